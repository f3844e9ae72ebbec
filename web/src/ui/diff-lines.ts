// The difference between two texts, line by line: the shortest script by Myers' greedy
// algorithm. Pure functions.

/** One line of a diff: in both texts, only in the old one, or only in the new one. */
export interface DiffLine {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
  /** Its number in the old text, from 1; undefined if it is not in it. */
  readonly before?: number;
  /** Its number in the new text, from 1; undefined if it is not in it. */
  readonly after?: number;
}

/**
 * The number of changed lines up to which the shortest script is computed. Above it, all
 * lines are removed and added.
 */
const mostEdits = 1000;

/** The lines of both texts in order. Removed lines precede the lines that replace them. */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = linesOf(before);
  const b = linesOf(after);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;

  const out: DiffLine[] = [];
  const same = (i: number, j: number) => out.push({ kind: "same", text: a[i] ?? "", before: i + 1, after: j + 1 });
  for (let i = 0; i < head; i++) same(i, i);
  for (const step of script(a.slice(head, a.length - tail), b.slice(head, b.length - tail))) {
    const [i, j] = [step.i + head, step.j + head];
    if (step.kind === "same") same(i, j);
    else if (step.kind === "removed") out.push({ kind: "removed", text: a[i] ?? "", before: i + 1 });
    else out.push({ kind: "added", text: b[j] ?? "", after: j + 1 });
  }
  for (let i = a.length - tail, j = b.length - tail; i < a.length; i++, j++) same(i, j);
  return removedFirst(out);
}

/** The lines of a text. The empty text has none, and a line break at the end adds none. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split(/\r\n|\n/);
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}

interface Step {
  readonly kind: DiffLine["kind"];
  readonly i: number;
  readonly j: number;
}

// Myers, "An O(ND) difference algorithm": the furthest reaching paths by the number of
// edits, then the way back through them.
function script(a: readonly string[], b: readonly string[]): Step[] {
  const traces: Map<number, number>[] = [];
  let furthest = new Map<number, number>([[1, 0]]);
  const most = Math.min(a.length + b.length, mostEdits);
  for (let d = 0; d <= most; d++) {
    traces.push(furthest);
    const next = new Map<number, number>();
    for (let k = -d; k <= d; k += 2) {
      let x = goesDown(furthest, k, d) ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      next.set(k, x);
      if (x >= a.length && x - k >= b.length) return wayBack(traces, a.length, b.length);
    }
    furthest = next;
  }
  return [...a.map((_, i): Step => ({ kind: "removed", i, j: 0 })), ...b.map((_, j): Step => ({ kind: "added", i: a.length, j }))];
}

const at = (furthest: ReadonlyMap<number, number>, k: number): number => furthest.get(k) ?? -1;

function goesDown(furthest: ReadonlyMap<number, number>, k: number, d: number): boolean {
  return k === -d || (k !== d && at(furthest, k - 1) < at(furthest, k + 1));
}

function wayBack(traces: readonly Map<number, number>[], x: number, y: number): Step[] {
  const steps: Step[] = [];
  for (let d = traces.length - 1; d >= 0; d--) {
    const furthest = traces[d] ?? new Map<number, number>();
    const k = x - y;
    const from = goesDown(furthest, k, d) ? k + 1 : k - 1;
    const fromX = at(furthest, from);
    const fromY = fromX - from;
    while (x > Math.max(fromX, 0) && y > Math.max(fromY, 0)) steps.push({ kind: "same", i: --x, j: --y });
    if (d === 0) break;
    if (x === fromX) steps.push({ kind: "added", i: x, j: --y });
    else steps.push({ kind: "removed", i: --x, j: y });
  }
  return steps.reverse();
}

function removedFirst(lines: readonly DiffLine[]): DiffLine[] {
  const out: DiffLine[] = [];
  let added: DiffLine[] = [];
  for (const line of lines) {
    if (line.kind === "added") {
      added.push(line);
      continue;
    }
    if (line.kind === "same") {
      out.push(...added);
      added = [];
    }
    out.push(line);
  }
  return [...out, ...added];
}

/** A range of unchanged lines that is hidden, or lines to show. */
export type DiffBlock = { readonly kind: "lines"; readonly lines: readonly DiffLine[] } | { readonly kind: "gap"; readonly count: number };

/** The diff with `context` unchanged lines around each change; empty for equal texts. */
export function diffBlocks(lines: readonly DiffLine[], context = 3): DiffBlock[] {
  const near = new Array<boolean>(lines.length).fill(false);
  lines.forEach((line, i) => {
    if (line.kind === "same") return;
    near.fill(true, Math.max(0, i - context), i + context + 1);
  });
  const blocks: DiffBlock[] = [];
  for (let i = 0; i < lines.length; ) {
    const begin = i;
    const shown = near[i];
    while (i < lines.length && near[i] === shown) i++;
    blocks.push(shown === true ? { kind: "lines", lines: lines.slice(begin, i) } : { kind: "gap", count: i - begin });
  }
  return blocks.some((b) => b.kind === "lines") ? blocks : [];
}
