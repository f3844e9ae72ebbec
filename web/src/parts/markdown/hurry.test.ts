// Texts that are made to keep a parser busy are read as fast as others: one message
// must not stop the page of everybody who sees it.
import { expect, it } from "vitest";
import { withoutTags } from "./html";
import { plainText } from "./measure";
import { completeMembers } from "@shoal-dev/client";
import { pieces } from "../words/marks";
import { Splitter } from "./blocks";
import { resolved } from "./entities";

// Seconds for what takes milliseconds: a busy machine is not a defect.
const patience = 2000;

function took(work: () => void): number {
  const from = performance.now();
  work();
  return performance.now() - from;
}

it.each([
  ["stars with spaces", "* ".repeat(150) + "x".repeat(400)],
  ["stars with lines", "*\n".repeat(150) + "x".repeat(400)],
  ["signs of lists", "- + * > 1. ".repeat(5000) + "x"],
  ["digits", "1234567890".repeat(6500)],
  ["spaces", " ".repeat(65_000)],
])("whether %s nest", (_, text) => expect(took(() => void plainText(text, false))).toBeLessThan(patience));

it("a star before each line is a normal list, and a hundred stars in a row are not", () => {
  expect(plainText("* one\n* two\n".repeat(200), false)).toBe(false);
  expect(plainText("* ".repeat(250), false)).toBe(true);
  expect(plainText("> ".repeat(250) + "x", false)).toBe(true);
});

it.each([
  ["a name without an end", "<div>\n<" + "a".repeat(65_000) + "<"],
  ["quotes without an end", "<a " + '"<a" '.repeat(16_000) + "'"],
  ["tags in tags", "<a ".repeat(20_000)],
  ["quotes of both kinds", `<a "'`.repeat(13_000)],
  ["comments without an end", "<!-".repeat(20_000)],
])("the tags of %s", (_, text) => expect(took(() => void withoutTags(text))).toBeLessThan(patience));

it.each([
  ["brackets", "[".repeat(262_144)],
  ["definitions", "[a]: b\n".repeat(30_000)],
  ["rows of a table", "|a|b|\n|-|-|\n" + "|".repeat(100_000)],
  ["lines of spaces", " \n".repeat(100_000)],
  ["fences", "```\n".repeat(60_000)],
  ["tags", "<a ".repeat(80_000)],
])("the blocks of %s", (_, text) => expect(took(() => void new Splitter().split(text))).toBeLessThan(patience));

it.each([
  ["marks", "\u200b".repeat(262_144), pieces],
  ["marks between letters", "a\u200b".repeat(131_072), pieces],
  ["references", "&".repeat(262_144), resolved],
  ["open objects", '{"a":'.repeat(50_000), completeMembers],
  ["quotes", '{"' + "\\".repeat(262_144), completeMembers],
] as const)("%s", (_, text, read) => expect(took(() => void read(text))).toBeLessThan(patience));
