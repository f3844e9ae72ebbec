// @vitest-environment jsdom
// Queries of the search box, and the matches in hits.
import { beforeEach, describe, expect, it } from "vitest";
import { pieces } from "./highlight";
import { named, readQuery } from "./query";
import { forgetSearches, recentSearches, rememberSearch } from "./recent";

describe("a query", () => {
  const spaces = [{ id: "launch", name: "Launch plan" }];
  const people = [{ id: "ann", name: "Ann Lind" }, { id: "scout", name: "Scout" }];
  const sent = (typed: string) => readQuery(typed, spaces, people).q;
  it("is sent unchanged except for names, which become ids", () => {
    expect(sent("in:launch laptops kind:agent from:@scout -cheap")).toBe("in:launch laptops kind:agent from:scout -cheap");
    expect(sent('in:"Launch plan" -from:"Ann Lind" mentions:me')).toBe("in:launch -from:ann mentions:me");
  });
  it("accepts the start of a name, also before the second quote", () => {
    expect(sent('in:#Laun from:"Ann')).toBe("in:launch from:ann");
  });
  it("treats quoted text as text", () => {
    expect(sent('"from:nobody here" -"in:x" "lap"*')).toBe('"from:nobody here" -"in:x" "lap"*');
  });
  it("treats a word with a colon as a word", () => {
    expect(sent("at 10:30 https://a.example/b")).toBe("at 10:30 https://a.example/b");
  });
  it("leaves out an incomplete filter", () => {
    for (const typed of ["in: hello", "from: hello", "hello has:", "before: hello", "hello -from:"]) expect(sent(typed)).toBe("hello");
  });
  it("reports unknown names instead of searching", () => {
    expect(readQuery("tea from:zoe in:nowhere", spaces, people)).toEqual({ q: "tea", unknown: { what: "person", name: "zoe" } });
    expect(readQuery("in:nowhere", spaces, people)).toEqual({ q: "", unknown: { what: "space", name: "nowhere" } });
  });
});

describe("names", () => {
  const spaces = [{ id: "a", name: "Finance" }, { id: "finance", name: "Other" }, { id: "b", name: "Launch plan" }];
  it("match ids before names", () => expect(named(spaces, "finance")?.id).toBe("finance"));
  it("match the start of a name in any case", () => expect(named(spaces, "LAUNCH")?.id).toBe("b"));
  it("or match nothing", () => expect(named(spaces, "sales")).toBeUndefined());
});

describe("a highlight", () => {
  it("is split by bytes, not by characters", () => {
    expect(pieces("größe 👍 ok", [[0, 7], [13, 15]])).toEqual([
      { text: "größe", match: true },
      { text: " 👍 ", match: false },
      { text: "ok", match: true },
    ]);
  });
  it("clips ranges that overlap or exceed the text", () => {
    expect(pieces("abc", [[1, 2], [1, 9], [20, 30]]).map((p) => p.text).join("")).toBe("abc");
  });
  it("is one piece without a match", () => expect(pieces("abc", [])).toEqual([{ text: "abc", match: false }]));
});

describe("recent searches", () => {
  beforeEach(forgetSearches);
  it("are stored once each, the newest first, at most eight", () => {
    for (const s of ["a", "b", " a ", "", ...Array.from("cdefghij")]) rememberSearch(s);
    expect(recentSearches()).toEqual(["j", "i", "h", "g", "f", "e", "d", "c"]);
  });
  it("ignore other values stored under their name", () => {
    localStorage.setItem("shoal.searches", '{"not": "a list"}');
    expect(recentSearches()).toEqual([]);
  });
});
