import { expect, test } from "vitest";
import { diffBlocks, diffLines, type DiffLine } from "./diff-lines";

const sign = { same: " ", removed: "-", added: "+" } as const;
const shown = (lines: readonly DiffLine[]) => lines.map((l) => sign[l.kind] + l.text);

test.each([
  ["equal texts", "a\nb", "a\nb", [" a", " b"]],
  ["a line break at the end adds no line", "a\n", "a", [" a"]],
  ["from nothing", "", "a\nb", ["+a", "+b"]],
  ["to nothing", "a\nb", "", ["-a", "-b"]],
  ["one line replaced", "a\nb\nc", "a\nx\nc", [" a", "-b", "+x", " c"]],
  ["two lines replaced: removed ones first", "a\nb\nc\nd", "a\nx\ny\nd", [" a", "-b", "-c", "+x", "+y", " d"]],
  ["one line inserted", "a\nc", "a\nb\nc", [" a", "+b", " c"]],
  ["one line deleted", "a\nb\nc", "a\nc", [" a", "-b", " c"]],
  ["a moved line", "a\nb\nc", "b\nc\na", ["-a", " b", " c", "+a"]],
  ["everything", "a\nb", "c\nd", ["-a", "-b", "+c", "+d"]],
])("%s", (_, before, after, want) => {
  expect(shown(diffLines(before, after))).toEqual(want);
});

test("lines have their numbers in both texts", () => {
  expect(diffLines("a\nb", "x\na\nb").map((l) => [l.before, l.after])).toEqual([
    [undefined, 1],
    [1, 2],
    [2, 3],
  ]);
});

// For any two texts, the lines of the diff restore both of them, and no shorter script does
// (compared with the plain longest common subsequence).
test("any two texts", () => {
  let seed = 7;
  const random = (n: number) => (seed = (seed * 48271) % 2147483647) % n;
  for (let round = 0; round < 400; round++) {
    const text = () => Array.from({ length: random(9) }, () => "abc"[random(3)] ?? "").join("\n");
    const [before, after] = [text(), text()];
    const lines = diffLines(before, after);
    expect(lines.filter((l) => l.kind !== "added").map((l) => l.text).join("\n")).toBe(before);
    expect(lines.filter((l) => l.kind !== "removed").map((l) => l.text).join("\n")).toBe(after);
    expect(lines.filter((l) => l.kind === "same").length).toBe(common(before, after));
  }
});

function common(before: string, after: string): number {
  const a = before === "" ? [] : before.split("\n");
  const b = after === "" ? [] : after.split("\n");
  let row = new Array<number>(b.length + 1).fill(0);
  for (const line of a) {
    const next = [0];
    b.forEach((other, j) => next.push(line === other ? (row[j] ?? 0) + 1 : Math.max(row[j + 1] ?? 0, next[j] ?? 0)));
    row = next;
  }
  return row[b.length] ?? 0;
}

test("two unrelated texts of a thousand lines finish quickly", () => {
  const many = (word: string) => Array.from({ length: 3000 }, (_, i) => `${word}${i}`).join("\n");
  expect(diffLines(many("a"), many("b"))).toHaveLength(6000);
});

test("blocks contain three lines around a change and count the others", () => {
  const before = Array.from({ length: 20 }, (_, i) => `line ${i}`).join("\n");
  const blocks = diffBlocks(diffLines(before, before.replace("line 10", "other")));
  expect(blocks.map((b) => (b.kind === "gap" ? b.count : b.lines.length))).toEqual([7, 8, 6]);
  expect(diffBlocks(diffLines(before, before))).toEqual([]);
});

test("two unrelated texts of any length finish quickly", () => {
  const lines = (word: string, n: number) => Array.from({ length: n }, (_, i) => `${word} ${i}`).join("\n");
  const from = performance.now();
  expect(diffLines(lines("a", 499), lines("b", 499)).length).toBe(998);
  expect(diffLines(lines("a", 20_000), lines("b", 20_000)).length).toBe(40_000);
  expect(performance.now() - from).toBeLessThan(3000);
});
