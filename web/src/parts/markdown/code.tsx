// A block of code: its language, a button that copies it, colours once it is whole.
import { memo, type ReactNode, useEffect, useState } from "react";
import { CopyButton } from "@/ui/copy";
import { Words } from "../words/words";
import { rendered } from "./measure";
import type { Shaded } from "./shade";

const mostShaded = 50_000;

interface Props {
  readonly code: string;
  /** The info string after the opening fence, as written. */
  readonly language?: string;
  /** More of it comes. */
  readonly grows?: boolean;
}

/** Code. Without its colours until they are there, and for long or unknown code. */
export const CodeBlock = memo(function CodeBlock({ code, language = "", grows = false }: Props) {
  rendered.blocks++;
  const name = /^[\w+#.-]{1,30}/.exec(language)?.[0] ?? "";
  const shaded = useShaded(grows ? "" : code, name);
  return (
    <figure className="my-2 overflow-hidden rounded-md border border-line bg-surface" dir="ltr">
      <figcaption className="flex items-center justify-between gap-2 border-b border-line bg-sunken py-0.5 pr-1 pl-3 text-xs text-soft">
        <span>{name === "" ? "code" : name}</span>
        <CopyButton text={code} />
      </figcaption>
      <pre className="overflow-x-auto p-3 font-mono text-sm leading-normal" tabIndex={0}>
        <code>{shaded === undefined ? <Words text={code} /> : <Lines lines={shaded} />}</code>
      </pre>
    </figure>
  );
});

function useShaded(code: string, language: string): Shaded | undefined {
  const [shaded, setShaded] = useState<{ of: string; lines: Shaded }>();
  useEffect(() => {
    if (code === "" || language === "" || code.length > mostShaded) return;
    let wanted = true;
    void import("./shade")
      .then((m) => m.shade(code, language))
      .then((lines) => {
        if (wanted && lines !== undefined) setShaded({ of: code, lines });
      })
      .catch(() => undefined); // colours are a nicety: without them the code is there
    return () => {
      wanted = false;
    };
  }, [code, language]);
  return shaded?.of === code ? shaded.lines : undefined;
}

function Lines({ lines }: { lines: Shaded }): ReactNode {
  return lines.map((line, i) => (
    <span key={i}>
      {line.map((token, j) => (
        <span key={j} className="shaded" style={token.style}>
          <Words text={token.text} />
        </span>
      ))}
      {i < lines.length - 1 && "\n"}
    </span>
  ));
}
