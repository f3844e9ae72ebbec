// @vitest-environment jsdom
// What is typed into the search box, and what is marked in its hits.
import { beforeEach, describe, expect, it } from "vitest";
import { pieces } from "./highlight";
import { named, parseQuery } from "./query";
import { forgetSearches, recentSearches, rememberSearch } from "./recent";

describe("what is typed", () => {
  it("words and filters in any order", () => {
    expect(parseQuery("in:launch laptops kind:agent from:@scout cheap")).toEqual({ words: "laptops cheap", in: "launch", kind: "agent", from: "scout", unknown: [] });
  });
  it("values with blanks stand in quotes, also while the second one is not typed yet", () => {
    expect(parseQuery('in:"Launch plan" from:"Ann').in).toBe("Launch plan");
    expect(parseQuery('in:"Launch plan" from:"Ann').from).toBe("Ann");
  });
  it("a word with a colon is a word", () => {
    expect(parseQuery("at 10:30 https://a.example/b note:this").words).toBe("at 10:30 https://a.example/b note:this");
  });
  it("a kind that there is not is named", () => {
    expect(parseQuery("kind:robot hello")).toMatchObject({ words: "hello", kind: undefined, unknown: ["kind:robot"] });
  });
  it("a filter that is not whole filters nothing", () => {
    expect(parseQuery("in: hello").in).toBeUndefined();
  });
});

describe("who is named", () => {
  const spaces = [{ id: "a", name: "Finance" }, { id: "finance", name: "Other" }, { id: "b", name: "Launch plan" }];
  it("by id before by name", () => expect(named(spaces, "finance")?.id).toBe("finance"));
  it("by the name's beginning, in any case", () => expect(named(spaces, "LAUNCH")?.id).toBe("b"));
  it("or nobody", () => expect(named(spaces, "sales")).toBeUndefined());
});

describe("a highlight", () => {
  it("is cut by bytes, not by characters", () => {
    expect(pieces("größe 👍 ok", [[0, 7], [13, 15]])).toEqual([
      { text: "größe", match: true },
      { text: " 👍 ", match: false },
      { text: "ok", match: true },
    ]);
  });
  it("survives ranges that overlap, or lie outside", () => {
    expect(pieces("abc", [[1, 2], [1, 9], [20, 30]]).map((p) => p.text).join("")).toBe("abc");
  });
  it("without a match is one piece", () => expect(pieces("abc", [])).toEqual([{ text: "abc", match: false }]));
});

describe("recent searches", () => {
  beforeEach(forgetSearches);
  it("are kept once each, the newest first, eight of them", () => {
    for (const s of ["a", "b", " a ", "", ...Array.from("cdefghij")]) rememberSearch(s);
    expect(recentSearches()).toEqual(["j", "i", "h", "g", "f", "e", "d", "c"]);
  });
  it("whatever else is kept under their name is no search", () => {
    localStorage.setItem("shoal.searches", '{"not": "a list"}');
    expect(recentSearches()).toEqual([]);
  });
});
