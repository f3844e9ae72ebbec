import { describe, expect, it } from "vitest";
import { message } from "../testdata";
import { countBetween, dwell, readUpTo, Seen } from "./unread";

const said = (seq: number, some: Parameters<typeof message>[0] = {}) => message({ seq, entityId: "bea", ...some });
const timeline = [said(1), said(2), said(3, { entityId: "ann" }), said(4), said(5, { status: "streaming" }), said(6)];
const seen = (...seqs: number[]) => new Set(seqs.map((seq) => `msg_${seq}`));

describe("what counts as read", () => {
  it.each([
    ["nothing, while nothing was on the screen", 1, [], undefined],
    ["what was on the screen from the first unread message on", 2, [2], 3],
    ["nothing that is after a message which was not on the screen", 1, [1, 4, 6], 1],
    ["nothing, if the first unread message was not on the screen", 1, [2, 4, 6], undefined],
    ["everything, past one's own messages and those still being written", 1, [1, 2, 4, 6], 6],
  ] as const)("is %s", (_, first, ids, want) => {
    expect(readUpTo(timeline, first, "ann", seen(...ids))).toBe(want);
  });

  it("ends where messages are not loaded", () => {
    const hole = [said(1), said(2), said(9)];
    expect(readUpTo(hole, 1, "ann", seen(1, 2, 9))).toBe(2);
    expect(readUpTo(hole, 5, "ann", seen(1, 2, 9))).toBeUndefined();
  });
});

it("counts what can be unread, including what is not loaded", () => {
  expect(countBetween(timeline, 1, 6, "ann")).toBe(4);
  expect(countBetween([said(1), said(9)], 1, 9, "ann")).toBe(9);
  expect(countBetween(timeline, 4, 3, "ann")).toBe(0);
});

it("a message is seen once it was on the screen for a second without a break", () => {
  const s = new Seen();
  s.sample(["a", "b"], 0);
  s.sample(["a"], dwell - 1);
  expect([...s.ids]).toEqual([]);
  s.sample(["a", "b"], dwell);
  expect([...s.ids]).toEqual(["a"]);
  s.sample(["b"], 2 * dwell);
  expect([...s.ids]).toEqual(["a", "b"]);
});
