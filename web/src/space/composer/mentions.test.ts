import { describe, expect, it } from "vitest";
import { member } from "../testdata";
import { begunAt, calledIn, candidates, mentionedIds, mentionsIn, writtenMention } from "./mentions";

const ann = member("ann", "human", "Ann");
const anna = member("anna", "human", "Anna");
const shop = member("shop-agent", "agent", "Shop Agent");
const bot = member("bot.v2", "agent", "Bot");
const all = [ann, anna, shop, bot];

describe("mentions in a text", () => {
  it.each([
    ["@Ann hello", ["ann"]],
    ["hello @anna", ["anna"]],
    ["@Shop Agent, two laptops", ["shop-agent"]],
    ["@shop-agent: two", ["shop-agent"]],
    ["ask @SHOP AGENT.", ["shop-agent"]],
    ["(@ann) and @ann again", ["ann"]],
    ["@bot.v2. Thanks", ["bot.v2"]],
    ["@Anna and @Ann", ["anna", "ann"]],
    ["mail ann@ann.example", []],
    ["@annabel", []],
    ["@ann-marie", []],
    ["@nobody", []],
    ["no one @ all", []],
    ["", []],
  ])("%j → %j", (text, want) => {
    expect(mentionedIds(text, all)).toEqual(want);
  });

  it("returns the position of each", () => {
    expect(mentionsIn("hi @Ann!", all)).toEqual([{ member: ann, start: 3, end: 7 }]);
  });

  it("does not guess between two members of one name", () => {
    const other = member("ann2", "human", "Ann");
    const two = [member("a1", "human", "Ann"), other];
    expect(mentionedIds("@Ann", two)).toEqual([]);
    expect(mentionedIds("@ann2", two)).toEqual(["ann2"]);
    expect(writtenMention(other, two)).toBe("@ann2");
  });

  it("an id is its bearer's, whatever others are named", () => {
    const liar = member("x", "human", "ann");
    expect(mentionedIds("@ann", [ann, liar])).toEqual(["ann"]);
    expect(writtenMention(liar, [ann, liar])).toBe("@x");
  });

  it("what is written for a member mentions that member", () => {
    for (const m of all) expect(mentionedIds(`${writtenMention(m, all)} hello`, all)).toEqual([m.entityId]);
  });
});

describe("a mention while it is typed", () => {
  it.each([
    ["@", 1, ""],
    ["hi @sh", 6, "sh"],
    ["@Shop Ag", 8, "Shop Ag"],
    ["@sh more", 3, "sh"],
  ])("%j at %i is %j", (text, caret, want) => {
    expect(begunAt(text, caret)?.query).toBe(want);
  });
  it.each([
    ["hi", 2],
    ["ann@ex", 6],
    ["@ann hello there", 16],
    ["@ann\n", 5],
  ])("%j at %i is not a mention", (text, caret) => {
    expect(begunAt(text, caret)).toBeUndefined();
  });

  it("suggests members: prefix matches first, agents before people, not oneself", () => {
    expect(candidates("a", all, "ann").map((m) => m.entityId)).toEqual(["anna", "shop-agent"]);
    expect(candidates("", all, "ann").map((m) => m.entityId)).toEqual(["bot.v2", "shop-agent", "anna"]);
    expect(candidates("v2", all, null).map((m) => m.entityId)).toEqual(["bot.v2"]);
  });
});

describe("what is looked up in a large space", () => {
  it("is what follows each @, as one word and as two", () => {
    expect(calledIn("Hi @ann-1, and @Bob Miller!")).toEqual(["ann-1", "Bob", "Bob Miller"]);
    expect(calledIn("write to ann@example.com or a@@b")).toEqual([]);
    expect(calledIn("@a @a @b. @c @d @e x")).toEqual(["b", "c", "d", "e", "e x"]);
  });
});
