import { describe, expect, it } from "vitest";
import { commandOf, countChanges, editsOf, isPatch } from "./work";

describe("the changes of a call", () => {
  it("reads those of Claude Code", () => {
    expect(editsOf({ file_path: "a.ts", old_string: "one\ntwo", new_string: "one\n2" })).toEqual([{ path: "a.ts", before: "one\ntwo", after: "one\n2" }]);
    expect(editsOf({ file_path: "a.ts", edits: [{ old_string: "1", new_string: "2" }, { no: "edit" }] })).toEqual([{ path: "a.ts", before: "1", after: "2" }]);
    expect(editsOf({ file_path: "a.ts", content: "whole" })).toEqual([{ path: "a.ts", before: "", after: "whole" }]);
  });
  it("reads those of Codex", () => {
    const changes = [
      { path: "a.ts", kind: { type: "update", move_path: null }, diff: "@@ -1 +1 @@\n-one\n+1\n" },
      { path: "b.ts", kind: { type: "add" }, diff: "new\n" },
      { path: "c.ts", kind: "delete", diff: "old\n" },
      { path: "d.ts" },
    ];
    expect(editsOf({ changes })).toEqual([{ path: "a.ts", diff: changes[0]?.diff }, { path: "b.ts", before: "", after: "new\n" }, { path: "c.ts", before: "old\n", after: "" }]);
    expect(countChanges(editsOf({ changes }))).toEqual({ added: 2, removed: 2 });
  });
  it("finds none in other calls", () => {
    for (const args of [{}, null, "text", { command: "ls" }, { path: "a.ts" }, { content: "no path" }, { changes: "none" }]) expect(editsOf(args)).toEqual([]);
  });
  it("reads a bounded number", () => {
    expect(editsOf({ file_path: "a", edits: Array.from({ length: 500 }, () => ({ old_string: "1", new_string: "2" })) })).toHaveLength(20);
  });
});

describe("a command", () => {
  it("is a text or a list of words", () => {
    expect(commandOf({ command: "make test", cwd: "/src" })).toEqual({ command: "make test", rest: { cwd: "/src" } });
    expect(commandOf({ command: ["make", "test"] })).toEqual({ command: "make test", rest: {} });
    for (const args of [{}, null, { command: "" }, { command: [] }, { command: [1] }, []]) expect(commandOf(args)).toBeUndefined();
  });
});

describe("an output", () => {
  it("is a patch if it begins as one", () => {
    expect(isPatch("--- a.ts\n+++ a.ts\n-one\n+1")).toBe(true);
    expect(isPatch("diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n")).toBe(true);
    expect(isPatch("--- a heading ---\nand text")).toBe(false);
  });
});
