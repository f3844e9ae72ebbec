// Shows the difference of two texts, with signs beside the lines, never by colour alone.
import { useMemo, useState } from "react";
import { Button } from "./button";
import { classes } from "./classes";
import { type DiffLine, diffBlocks, diffLines } from "./diff-lines";

const looks = {
  same: { sign: " ", word: "", look: "" },
  removed: { sign: "−", word: "removed: ", look: "bg-bad-soft text-bad" },
  added: { sign: "+", word: "added: ", look: "bg-ok-soft text-ok" },
} as const;

/** The changes from one text to the other. Unchanged lines far from a change are hidden. */
export function Diff({ before, after, label }: { before: string; after: string; label: string }) {
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  const [whole, setWhole] = useState(false);
  const blocks = diffBlocks(lines, whole ? lines.length : 3);
  const [added, removed] = [lines.filter((l) => l.kind === "added").length, lines.filter((l) => l.kind === "removed").length];
  if (blocks.length === 0) return <p className="text-soft">No changes.</p>;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2 text-sm text-soft">
        <span>
          {count(removed)} removed, {count(added)} added
        </span>
        <Button small tone="quiet" aria-pressed={whole} onClick={() => setWhole(!whole)}>
          {whole ? "Show changes only" : "Show all lines"}
        </Button>
      </div>
      <div role="region" aria-label={label} className="overflow-hidden rounded-md border border-line bg-surface font-mono text-xs leading-5">
        <div>
          {blocks.map((block, i) =>
            block.kind === "gap" ? (
              <p key={i} className="bg-sunken px-3 text-soft">
                … {count(block.count)} unchanged
              </p>
            ) : (
              block.lines.map((line, j) => <Line key={`${i}.${j}`} line={line} />)
            ),
          )}
        </div>
      </div>
    </div>
  );
}

const count = (n: number): string => (n === 1 ? "1 line" : `${n} lines`);

function Line({ line }: { line: DiffLine }) {
  const { sign, word, look } = looks[line.kind];
  return (
    <div className={classes("flex", look)}>
      <span aria-hidden className="w-10 shrink-0 pr-2 text-right text-soft select-none">
        {line.after ?? line.before}
      </span>
      <span aria-hidden className="w-4 shrink-0 select-none">
        {sign}
      </span>
      <span className="min-w-0 flex-1 pr-3 break-words whitespace-pre-wrap">
        {word !== "" && <span className="sr-only">{word}</span>}
        {line.text}
      </span>
    </div>
  );
}
