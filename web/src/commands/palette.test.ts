// @vitest-environment jsdom
// The order of the palette, its keys, and the list of shortcuts.
import { Hash } from "lucide-react";
import { describe, expect, it } from "vitest";
import type { Command } from "./commands";
import { shortcutGroups } from "./shortcut-list";
import { grouped, moved } from "./palette-dialog";

const command = (group: Command["group"], name: string, also?: string): Command => ({ id: `${group}:${name}`, group, name, also, icon: Hash, run: () => undefined });
const all = [command("Spaces", "Launch plan", "spc_1"), command("Spaces", "Finance"), command("Pages", "Agents"), command("Actions", "Light or dark", "toggle theme")];

describe("the palette", () => {
  it("lists everything by group for an empty query", () => {
    expect(grouped(all, "").map((g) => [g.name, g.commands.length])).toEqual([["Spaces", 2], ["Pages", 1], ["Actions", 1]]);
  });
  it("puts the group with the best command first", () => {
    expect(grouped(all, "agen").map((g) => g.name)[0]).toBe("Pages");
  });
  it("finds a command by its other words and a space by its id", () => {
    expect(grouped(all, "theme").flatMap((g) => g.commands.map((c) => c.name))).toContain("Light or dark");
    expect(grouped(all, "spc_1")[0]?.commands[0]?.name).toBe("Launch plan");
  });
  it("shows at most eight of a group", () => {
    const many = Array.from({ length: 20 }, (_, i) => command("Spaces", `Space ${i}`));
    expect(grouped(many, "space")[0]?.commands).toHaveLength(8);
  });
  it("wraps around with the arrow keys, and stops at the ends with the page keys", () => {
    expect(moved("ArrowDown", 2, 3)).toBe(0);
    expect(moved("ArrowUp", 0, 3)).toBe(2);
    expect(moved("PageDown", 0, 3)).toBe(2);
    expect(moved("PageUp", 2, 3)).toBe(0);
    expect(moved("a", 0, 3)).toBeUndefined();
    expect(moved("ArrowDown", -1, 0)).toBeUndefined();
  });
});

describe("the list of shortcuts", () => {
  const shortcut = (keys: string, about: string) => ({ keys, about, run: () => undefined });
  it("is grouped by purpose, and keeps the newest of two shortcuts with the same keys", () => {
    const groups = shortcutGroups([shortcut("g r", "Go to runs"), shortcut("/", "Go to search"), shortcut("Ctrl+K", "Anything"), shortcut("R", "Reply"), shortcut("/", "Go to the search field")]);
    expect(groups.map((g) => [g.name, g.of.map((s) => s.about)])).toEqual([
      ["Go to", ["Go to runs", "Go to the search field"]],
      ["Anywhere", ["Anything"]],
      ["On this page", ["Reply"]],
    ]);
  });
});
