import { describe, expect, it } from "vitest";
import { firstSpace } from "./first-space";
import type { Groups, SpaceRow } from "./order";
import { space } from "./testdata";

const row = (id: string, createdAt: string, unreadCount = 0): SpaceRow => ({ space: space({ id, createdAt, unreadCount }), waiting: 0, at: createdAt, member: true });
const groups = (own: SpaceRow[], others: SpaceRow[] = [], closed: SpaceRow[] = []): Groups => ({ own, others, closed });
const first = (g: Groups, last: string | null = null) => firstSpace(g, last)?.space.id;

describe("a visit begins in", () => {
  const welcome = row("welcome", "2026-11-20T10:00:00.000Z", 1);
  const purchasing = row("purchasing", "2026-11-20T10:00:00.001Z");

  it("the oldest space of one's own with something to read, whatever the order of the list", () => {
    expect(first(groups([purchasing, welcome]))).toBe("welcome");
    expect(first(groups([row("new", "2026-11-22T10:00:00.000Z", 9), purchasing, welcome]))).toBe("welcome");
  });

  it("the oldest space if everything is read", () => {
    expect(first(groups([purchasing, row("older", "2026-11-19T10:00:00.000Z")]))).toBe("older");
  });

  it("the space that was open last, as long as it is there", () => {
    expect(first(groups([purchasing, welcome]), "purchasing")).toBe("purchasing");
    expect(first(groups([purchasing, welcome]), "deleted")).toBe("welcome");
    expect(first(groups([welcome], [], [row("done", "2026-11-19T10:00:00.000Z")]), "done")).toBe("done");
  });

  it("a space of others or a closed one if there is no other, else in none", () => {
    expect(first(groups([], [purchasing]))).toBe("purchasing");
    expect(first(groups([], [], [purchasing]))).toBe("purchasing");
    expect(first(groups([]))).toBeUndefined();
  });
});
