// The frame of a custom renderer: a page of its own, sandboxed, that can run its
// script and nothing else. What answers the tool is drawn outside of it.
import { useEffect, useRef, useState } from "react";
import { Button } from "@/ui/button";
import type { RendererProps } from "../contract";
import { address } from "../words/address";
import { useSigned } from "../words/own-file";
import { Words } from "../words/words";
import { type RenderMessage, requestOf } from "./bridge";

interface Props extends RendererProps {
  /** Where the renderer is served by this server. */
  readonly url: string;
  readonly canAnswer: boolean;
  readonly theme: "light" | "dark";
  /** Takes what the renderer proposes as the answer. */
  readonly onPropose: (value: unknown) => void;
}

/** How many requests of a frame are handled per second. */
const mostWishes = 60;

export function RendererFrame({ url, onPropose, theme, tool, args, argsStatus, result, state, canAnswer }: Props) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [ready, setReady] = useState(0);
  const [height, setHeight] = useState(120);
  const [wanted, setWanted] = useState<string>();
  const signed = useSigned(url);
  const propose = useRef(onPropose);
  propose.current = onPropose;

  useEffect(() => {
    let heard = 0;
    let second = 0;
    const hear = (event: MessageEvent) => {
      if (frame.current === null || event.source !== frame.current.contentWindow) return;
      const now = Math.floor(event.timeStamp / 1000);
      heard = now === second ? heard + 1 : 1;
      second = now;
      if (heard > mostWishes) return;
      const request = requestOf(event.data);
      if (request?.type === "ready") setReady((n) => n + 1);
      else if (request?.type === "height") setHeight(request.px);
      else if (request?.type === "answer") propose.current(request.value);
      else if (request?.type === "open" && address(request.url) !== undefined) setWanted(request.url);
    };
    window.addEventListener("message", hear);
    return () => window.removeEventListener("message", hear);
  }, []);

  useEffect(() => {
    if (ready === 0) return;
    const message: RenderMessage = { shoal: 1, type: "render", tool, args, argsStatus, result, state, canAnswer, theme, locale: navigator.language };
    // A sandboxed frame has no origin that could be named.
    frame.current?.contentWindow?.postMessage(message, "*");
  }, [ready, tool, args, argsStatus, result, state, canAnswer, theme]);

  return (
    <div className="flex flex-col gap-2">
      {signed.problem !== undefined && <p role="alert" className="text-sm text-bad">{signed.problem.message}</p>}
      {signed.src !== undefined && <iframe ref={frame} src={signed.src} title={`Card of ${tool}`} sandbox="allow-scripts" referrerPolicy="no-referrer" className="w-full rounded-md border border-line" style={{ height, colorScheme: theme }} />}
      {wanted !== undefined && <Asked url={wanted} onDone={() => setWanted(undefined)} />}
    </div>
  );
}

function Asked({ url, onDone }: { url: string; onDone: () => void }) {
  const to = address(url);
  if (to === undefined) return null;
  return (
    <div role="status" className="flex flex-wrap items-center gap-2 rounded-md border border-accent p-2 text-sm">
      <span className="min-w-0 [overflow-wrap:anywhere]">
        The card wants to open a page of <strong><Words text={to.host} /></strong>.
      </span>
      <a href={to.href} target="_blank" rel="noopener noreferrer" onClick={onDone} className="inline-flex min-h-7 touch:min-h-11 items-center rounded-md border border-edge px-2 font-medium">
        Open in a new tab
      </a>
      <Button small tone="quiet" onClick={onDone}>
        No
      </Button>
    </div>
  );
}
