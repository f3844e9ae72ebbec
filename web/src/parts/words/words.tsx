// Text that somebody else wrote, shown as nothing but text.
import { memo, useState } from "react";
import { type Mark, pieces } from "./marks";

/** A mark in the place of characters that cannot be seen. */
export function Unseen({ mark }: { mark: Mark }) {
  return (
    <span title={mark.title} className="mx-0.5 rounded border border-warn bg-warn-soft px-1 font-mono text-xs break-all text-warn [unicode-bidi:isolate]">
      {mark.label}
    </span>
  );
}

/** A text with marks for what cannot be seen in it. */
export const Words = memo(function Words({ text }: { text: string }) {
  const all = pieces(text);
  if (all.length === 1 && all[0] === text) return text;
  return all.map((p, i) => (typeof p === "string" ? p : <Unseen key={i} mark={p} />));
});

const most = 2000;

/** Words of any length: the beginning, and a button that shows the rest. */
export function LongWords({ text, limit = most }: { text: string; limit?: number }) {
  const [whole, setWhole] = useState(false);
  if (text.length <= limit + 200 || whole) return <Words text={text} />;
  return (
    <>
      <Words text={text.slice(0, limit)} />…{" "}
      <button type="button" className="inline-flex min-h-6 items-center text-accent underline" onClick={() => setWhole(true)}>
        Show all {text.length.toLocaleString()} characters
      </button>
    </>
  );
}
