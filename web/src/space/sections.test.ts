import { describe, expect, it } from "vitest";
import type { SpaceRow } from "./order";
import { byName, inPlace, sections } from "./sections";
import { space } from "./testdata";

const row = (id: string, some: Partial<SpaceRow> & { unread?: number; name?: string } = {}): SpaceRow => ({ space: space({ id, name: some.name ?? id, unreadCount: some.unread ?? 0 }), waiting: some.waiting ?? 0, at: some.at ?? "2026-11-20T10:00:00.000Z", member: true });
const ids = (s: ReturnType<typeof sections>) => [s.unread, s.pinned, s.rest].map((rows) => rows.map((r) => r.space.id).join(" "));

it("names with numbers are in the order of the numbers", () => {
  expect(["Hall 10", "hall 2", "Hall 1", "Äpfel", "Birnen"].sort(byName)).toEqual(["Äpfel", "Birnen", "Hall 1", "hall 2", "Hall 10"]);
});

describe("the sections", () => {
  const rows = [row("b", { at: "2026-11-20T12:00:00.000Z" }), row("a", { unread: 2 }), row("c"), row("d", { waiting: 1, at: "2026-11-20T13:00:00.000Z" })];
  it("are what is unread or waits, what is pinned, and the rest", () => {
    expect(ids(sections(rows, "name", new Set(["c", "a"])))).toEqual(["a d", "c", "b"]);
    expect(ids(sections(rows, "recent", new Set()))).toEqual(["d a", "", "b c"]);
  });
  it("keep the open space where it was", () => {
    expect(ids(sections(rows, "name", new Set(), { id: "b", unread: true }))).toEqual(["a b d", "", "c"]);
    expect(ids(sections(rows, "name", new Set(), { id: "a", unread: false }))).toEqual(["d", "", "a b c"]);
  });
  it("do not move while the reader points at them, and show current counts", () => {
    const before = sections(rows, "recent", new Set());
    const now = sections([row("b"), row("a"), row("c", { unread: 5, at: "2026-11-20T14:00:00.000Z" }), row("e")], "recent", new Set());
    const held = inPlace(now, before);
    expect(ids(held)).toEqual(["a", "", "b c e"]);
    expect(held.rest[1]?.space.unreadCount).toBe(5);
  });
});
