// @vitest-environment jsdom
// What is typed into the search box, and what is marked in its hits.
import { beforeEach, describe, expect, it } from "vitest";
import { pieces } from "./highlight";
import { named, readQuery } from "./query";
import { forgetSearches, recentSearches, rememberSearch } from "./recent";

describe("what is typed", () => {
  const spaces = [{ id: "launch", name: "Launch plan" }];
  const people = [{ id: "ann", name: "Ann Lind" }, { id: "scout", name: "Scout" }];
  const sent = (typed: string) => readQuery(typed, spaces, people).q;
  it("is sent as it is, but for names, which become ids", () => {
    expect(sent("in:launch laptops kind:agent from:@scout -cheap")).toBe("in:launch laptops kind:agent from:scout -cheap");
    expect(sent('in:"Launch plan" -from:"Ann Lind" mentions:me')).toBe("in:launch -from:ann mentions:me");
  });
  it("a name may be begun, also while the second quote is not typed yet", () => {
    expect(sent('in:#Laun from:"Ann')).toBe("in:launch from:ann");
  });
  it("what stands in quotes is text", () => {
    expect(sent('"from:nobody here" -"in:x" "lap"*')).toBe('"from:nobody here" -"in:x" "lap"*');
  });
  it("a word with a colon is a word", () => {
    expect(sent("at 10:30 https://a.example/b")).toBe("at 10:30 https://a.example/b");
  });
  it("a filter that is not whole filters nothing", () => {
    for (const typed of ["in: hello", "from: hello", "hello has:", "before: hello", "hello -from:"]) expect(sent(typed)).toBe("hello");
  });
  it("somebody who is not there is named, not searched for", () => {
    expect(readQuery("tea from:zoe in:nowhere", spaces, people)).toEqual({ q: "tea", unknown: { what: "person", name: "zoe" } });
    expect(readQuery("in:nowhere", spaces, people)).toEqual({ q: "", unknown: { what: "space", name: "nowhere" } });
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
