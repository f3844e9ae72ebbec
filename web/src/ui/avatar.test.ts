import { expect, it } from "vitest";
import { hueOf, hues, initials } from "./avatar";

it("takes the initials of the first and the last word", () => {
  expect(["Ada", "Ada Lovelace", "Maria de la Cruz", "ops-team", "李 小龙", "  "].map(initials)).toEqual(["A", "AL", "MC", "OT", "李小", "?"]);
});

it("does not cut a letter in two", () => {
  expect(initials("𝒜da 😀")).toBe("𝒜");
});

it("gives an id one colour, and ids of one kind different ones", () => {
  expect(hueOf("ada")).toBe(hueOf("ada"));
  const seen = new Set(Array.from({ length: 200 }, (_, i) => hueOf(`agent-${i}`)));
  expect(seen).toEqual(new Set(Array.from({ length: hues }, (_, i) => i)));
});
