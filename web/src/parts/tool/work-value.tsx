// What a coding agent's tool call does and what came of it: a change of files as a diff, a command
// as a command, an output as it was printed.
import type { ToolPart } from "@shoal-dev/client";
import { classes } from "@/ui/classes";
import { CodeBlock } from "../markdown/code";
import { Diff } from "../renderers/lazy";
import { Value } from "../renderers/value";
import { LongWords } from "../words/words";
import { commandOf, editsOf, isPatch } from "./work";

/** The arguments of a call. */
export function WorkArguments({ part }: { part: ToolPart }) {
  const edits = editsOf(part.args);
  if (edits.length > 0) {
    return (
      <div className="flex min-w-0 flex-col gap-2">
        {edits.map((e, i) => (
          <Diff key={i} value={e} />
        ))}
      </div>
    );
  }
  const run = commandOf(part.args);
  if (run === undefined) return <Value value={part.args} />;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <CodeBlock code={run.command} language="sh" />
      <Value value={run.rest} />
    </div>
  );
}

/** The output of a call, or how it failed. A long one scrolls. */
export function WorkOutput({ text, failed = false }: { text: string; failed?: boolean }) {
  if (isPatch(text)) return <Diff value={text} />;
  return (
    <pre tabIndex={0} role="group" aria-label="Output" dir="ltr" className={classes("max-h-60 overflow-auto rounded-md border px-3 py-2 font-mono text-sm whitespace-pre-wrap [overflow-wrap:anywhere]", failed ? "border-bad bg-bad-soft text-bad" : "border-line bg-sunken")}>
      <LongWords text={text} />
    </pre>
  );
}

/** How many lines a call adds and removes. */
export function Changes({ added, removed }: { added: number; removed: number }) {
  return (
    <span className="flex gap-x-1.5 font-mono text-xs whitespace-nowrap tabular-nums">
      <span className="text-ok">
        <span aria-hidden>+{added}</span>
        <span className="sr-only">{added === 1 ? "1 line" : `${added} lines`} added, </span>
      </span>
      <span className="text-bad">
        <span aria-hidden>−{removed}</span>
        <span className="sr-only">{removed} removed</span>
      </span>
    </span>
  );
}
