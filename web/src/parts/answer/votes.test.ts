import { expect, test } from "vitest";
import type { PendingAction } from "@shoal-dev/client";
import { canonical, listed, tallyOf } from "./votes";

type Vote = PendingAction["votes"][number];
const vote = (entityId: string, some: Partial<Vote> = {}): Vote => ({ entityId, at: "2026-11-20T10:00:00.000Z", approved: true, result: null, error: null, editedArgs: null, ...some });

test("equal answers count together, however their JSON is ordered", () => {
  const votes = [vote("a", { editedArgs: { x: 1, y: 2 } }), vote("b"), vote("c", { editedArgs: { y: 2, x: 1 } })];
  const tally = tallyOf({ votes, quorum: 3, eligible: 1 });
  expect(tally.agreed.map((v) => v.entityId)).toEqual(["a", "c"]);
  expect(tally.others.map((v) => v.entityId)).toEqual(["b"]);
  expect([tally.missing, tally.stuck]).toEqual([1, false]);
});

test("votes that can be changed keep an action alive; too few voters do not", () => {
  expect(tallyOf({ votes: [vote("a")], quorum: 3, eligible: 1 }).stuck).toBe(true);
  expect(tallyOf({ votes: [vote("a"), vote("b", { editedArgs: {} })], quorum: 2, eligible: 0 }).stuck).toBe(false);
});

test("texts", () => {
  expect(canonical({ b: [{ d: 1, c: 2 }], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1}]}');
  expect([listed([]), listed(["Ada"]), listed(["Ada", "Ben", "Eve"])]).toEqual(["", "Ada", "Ada, Ben and Eve"]);
});
