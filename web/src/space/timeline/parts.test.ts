import { expect, it } from "vitest";
import { text, tool } from "../testdata";
import { inGroups } from "./parts";

const display = { customUI: "Card" };
const card = (id: string, more = {}) => tool({ id, toolName: "show", display, args: { name: id }, ...more });
const ids = (parts: Parameters<typeof inGroups>[0]) => inGroups(parts).map((g) => g.map((p) => p.id).join("+"));

it("puts cards of one tool that follow each other together", () => {
  expect(ids([text({ id: "t1" }), card("a"), card("b"), text({ id: "t2" }), card("c")])).toEqual(["t1", "a+b", "t2", "c"]);
});

it("keeps other tools, other calls, tables and parts for others apart", () => {
  const rows = { rows: [{ n: 1 }] };
  expect(ids([card("a"), card("b", { toolName: "other" })])).toEqual(["a", "b"]);
  expect(ids([card("a", { display: null }), card("b", { display: null })])).toEqual(["a", "b"]);
  expect(ids([card("a", { result: [{ n: 1 }] }), card("b", { args: rows, result: [{ n: 2 }] })])).toEqual(["a", "b"]);
});
