// What changed between two texts, or a patch as somebody wrote it.
import { useMemo } from "react";
import { classes } from "@/ui/classes";
import { diffBlocks, diffLines, type DiffLine } from "@/ui/diff-lines";
import { Words } from "../words/words";
import { textMember } from "./shape";

const mostLines = 2000;
const mostLine = 2000;
const signs = { same: " ", added: "+", removed: "−" } as const;
const spoken = { same: undefined, added: "added", removed: "removed" } as const;

/** {before, after}, {diff} or a text in the form of `diff -u`. */
export function Diff({ value }: { value: unknown }) {
  const name = textMember(value, "path", "file", "name", "title");
  const lines = useMemo(() => linesOf(value), [value]);
  return (
    <figure className="overflow-hidden rounded-md border border-line bg-surface" dir="ltr">
      {name !== undefined && (
        <figcaption className="border-b border-line bg-sunken px-3 py-1 font-mono text-sm [overflow-wrap:anywhere]">
          <Words text={name} />
        </figcaption>
      )}
      <div className="max-h-96 overflow-auto py-1 font-mono text-sm" tabIndex={0} role="group" aria-label="Changes">
        {lines.length === 0 && <p className="px-3 text-soft">Nothing has changed.</p>}
        {lines.slice(0, mostLines).map((line, i) =>
          typeof line === "number" ? (
            <p key={i} className="bg-sunken px-3 text-soft">
              {line} unchanged lines
            </p>
          ) : (
            <div key={i} className={classes("flex gap-2 px-3 whitespace-pre", line.kind === "added" && "bg-ok-soft text-ok", line.kind === "removed" && "bg-bad-soft text-bad")}>
              <span aria-hidden className="select-none">
                {signs[line.kind]}
              </span>
              {spoken[line.kind] !== undefined && <span className="sr-only">{spoken[line.kind]}: </span>}
              <span>
                <Words text={line.text.length > mostLine ? `${line.text.slice(0, mostLine)}…` : line.text} />
              </span>
            </div>
          ),
        )}
        {lines.length > mostLines && <p className="px-3 text-soft">{lines.length - mostLines} more lines are not shown.</p>}
      </div>
    </figure>
  );
}

function linesOf(value: unknown): (DiffLine | number)[] {
  const before = textMember(value, "before");
  const after = textMember(value, "after");
  if (before !== undefined && after !== undefined) return diffBlocks(diffLines(before, after)).flatMap((b): (DiffLine | number)[] => (b.kind === "gap" ? [b.count] : [...b.lines]));
  const patch = typeof value === "string" ? value : (textMember(value, "diff", "patch") ?? "");
  return patch
    .replace(/\n$/, "")
    .split("\n")
    .map((line): DiffLine => {
      if (/^\+(?!\+\+ )/.test(line)) return { kind: "added", text: line.slice(1) };
      if (/^-(?!-- )/.test(line)) return { kind: "removed", text: line.slice(1) };
      return { kind: "same", text: line.replace(/^ /, "") };
    });
}
