// One outermost block of markdown.
import { memo, useEffect, useRef, useState } from "react";
import { ErrorBoundary } from "../error-boundary";
import { Words } from "../words/words";
import { plainText, rendered } from "./measure";
import { type Growing, Parsed } from "./parsed";

/** A block; drawn anew only when its text has changed. */
export const MarkdownBlock = memo(function MarkdownBlock({ text, grows }: Growing) {
  rendered.blocks++;
  const shown = useUnhurried(text, grows);
  if (plainText(shown, grows)) return <Plain text={text} />;
  return (
    // What the parser cannot take is shown as it was written.
    <ErrorBoundary of={shown} fallback={<Plain text={shown} />}>
      <Parsed text={shown} grows={grows} />
    </ErrorBoundary>
  );
});

const long = 2048;
const pause = 300;

// A long block that grows is parsed again when it has grown by a twenty-fifth, or
// when nothing came for a while: so the work for it stays in proportion to its length.
function useUnhurried(text: string, grows: boolean): string {
  const [, look] = useState(0);
  const shown = useRef(text);
  const late = useRef(false);
  if (!grows || late.current || text.length < long || text.length >= shown.current.length * 1.04 || !text.startsWith(shown.current)) {
    shown.current = text;
    late.current = false;
  }
  const isStale = shown.current !== text;
  useEffect(() => {
    if (!isStale) return;
    const timer = setTimeout(() => {
      late.current = true;
      look((n) => n + 1);
    }, pause);
    return () => clearTimeout(timer);
  }, [isStale, text]);
  return shown.current;
}

function Plain({ text }: { text: string }) {
  return (
    <p className="whitespace-pre-wrap">
      <Words text={text} />
    </p>
  );
}
