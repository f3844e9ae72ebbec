import { expect, it } from "vitest";
import type { Part } from "@shoal-dev/client";
import { promptsOf } from "./prompts";

const data = (value: unknown, name = "prompts"): Part => ({ id: "p1", type: "data", name, data: value });

it("offers the texts of a data part with this name, once each", () => {
  expect(promptsOf(data({ prompts: ["I need a laptop", " Who are you? ", "I need a laptop"] }))).toEqual(["I need a laptop", "Who are you?"]);
  expect(promptsOf(data({ prompts: ["a"] }, "other"))).toEqual([]);
  expect(promptsOf({ id: "p1", type: "text", text: "a", status: "done" })).toEqual([]);
});

it.each([null, "a", ["a"], {}, { prompts: "a" }, { prompts: [7, null, "", "  ", {}, "x".repeat(201)] }, { prompts: [] }])("offers nothing for %o", (value) => {
  expect(promptsOf(data(value))).toEqual([]);
});

it("offers at most six", () => {
  expect(promptsOf(data({ prompts: ["1", "2", "3", "4", "5", "6", "7"] }))).toHaveLength(6);
});
