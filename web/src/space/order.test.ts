import { describe, expect, it } from "vitest";
import type { Space } from "@shoal-dev/client";
import { byWant, grouped, nextWanted, rows, type SpaceRow } from "./order";
import { message, pendingAction, space } from "./testdata";

const row = (id: string, some: Partial<Space> = {}, more: Partial<SpaceRow> = {}): SpaceRow => ({
  space: space({ id, ...some }),
  waiting: 0,
  at: "2026-11-20T10:00:00.000Z",
  member: true,
  ...more,
});

describe("the order of spaces", () => {
  it("is: waiting, mentions, unread, recent", () => {
    const all = [
      row("old"),
      row("recent", {}, { at: "2026-11-20T12:00:00.000Z" }),
      row("unread", { unreadCount: 9 }),
      row("mentioned", { unreadCount: 1, mentionCount: 1 }),
      row("waiting", {}, { waiting: 1 }),
    ];
    expect(all.sort(byWant).map((r) => r.space.id)).toEqual(["waiting", "mentioned", "unread", "recent", "old"]);
  });

  it("counts only open pending actions, in their own space", () => {
    const got = rows([space({ id: "a" }), space({ id: "b" })], [pendingAction({ spaceId: "a" }), pendingAction({ id: "p2", spaceId: "a", status: "answered" })], "ann", () => undefined);
    expect(got.map((r) => r.waiting)).toEqual([1, 0]);
  });

  it("is as recent as the newest message", () => {
    const [got] = rows([space({ id: "a" })], [], "ann", () => message({ createdAt: "2026-11-21T00:00:00.000Z" }));
    expect(got?.at).toBe("2026-11-21T00:00:00.000Z");
  });

  it("puts spaces of others and closed spaces last", () => {
    const got = grouped([row("closed", { status: "closed" }), row("theirs", {}, { member: false }), row("mine")], "ann");
    expect([got.own, got.others, got.closed].map((g) => g.map((r) => r.space.id))).toEqual([["mine"], ["theirs"], ["closed"]]);
  });

  it("shows all spaces alike without an acting entity", () => {
    expect(grouped([row("a", {}, { member: false })], null).own).toHaveLength(1);
  });
});

describe("the next wanted space", () => {
  const list = [row("a", { unreadCount: 1 }), row("b"), row("c", { unreadCount: 2, mentionCount: 1 })];
  it.each([
    ["a", false, "c"],
    ["b", false, "c"],
    ["c", false, "a"],
    [undefined, false, "a"],
    ["a", true, "c"],
    ["c", true, undefined],
  ])("from %s, mentions only: %s → %s", (current, mentions, want) => {
    expect(nextWanted(list, current, mentions)).toBe(want);
  });
});
