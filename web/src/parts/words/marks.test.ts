import { describe, expect, it } from "vitest";
import { address, ownFile, namesHost } from "./address";
import { pieces, visible } from "./marks";

const shown = (text: string) =>
  pieces(text)
    .map((p) => (typeof p === "string" ? p : `[${p.label}]`))
    .join("");

describe("characters that cannot be seen", () => {
  it.each([
    ["plain words", "plain words"],
    ["two\nlines\tand a tab", "two\nlines\tand a tab"],
    ["ad\u200bmin", "ad[U+200B]min"],
    ["x\u202ey\u202c", "x[U+202E]y[U+202C]"],
    ["\ufeffa", "[U+FEFF]a"],
    ["a\u0000b", "a[U+0000]b"],
    ["a\u200b\u200b\u200bb", "a[U+200B ×3]b"],
    ["a\u{e0068}\u{e0069}b", "a[hidden: hi]b"],
    ["x\u{e0101}\u{e0102}", "x[U+E0101 ×2]"],
  ])("%j is shown as %j", (text, expected) => expect(shown(text)).toBe(expected));

  it.each(["👩‍👩‍👧", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "می‌خواهم", "क्‍ष", "שלום\u200f!", "葛\u{e0100}"])("%s is writing that needs them", (text) => expect(pieces(text)).toEqual([text]));

  it("marks tags after an invalid flag", () => expect(shown("🏴\u{e0068}\u{e0069}")).toBe("🏴[hidden: hi]"));
  it("marks a joiner between latin letters", () => expect(shown("a\u200db")).toBe("a[U+200D]b"));
  it("leaves out what cannot be seen to compare words", () => expect(visible("ad\u200bmin")).toBe("admin"));
  it("is done with a long text at once", () => expect(pieces("a\u200b".repeat(50_000))).toHaveLength(100_000));
});

describe("addresses", () => {
  it.each(["https://a.example/", "http://a.example/", "mailto:a@b.example", "HTTPS://a.example/", "/v1/sessions/default/files/fil_1"])("%s is a link", (url) => expect(address(url)).toBeDefined());
  it.each(["javascript:alert(1)", "data:text/html,x", "//a.example", "/console/logout", "file:///x", " https://a.example", "java\tscript:x", "https://", "/v1/sessions/../files/x", "/v1/sessions/a/files/.."])("%j is refused", (url) =>
    expect(address(url)).toBeUndefined(),
  );
  it("recognizes files of this server", () => {
    expect(ownFile("/v1/sessions/default/files/fil_1")).toBe(true);
    expect(ownFile("/v1/sessions/default/files/fil_1?x")).toBe(false);
    expect(ownFile("https://a.example/v1/sessions/default/files/fil_1")).toBe(false);
  });
  it("recognizes texts that name the host", () => {
    const to = address("https://a.example/");
    expect(to && namesHost("a.example", to)).toBe(true);
    expect(to && namesHost("https://a.example", to)).toBe(true);
    expect(to && namesHost("https://b.example", to)).toBe(false);
  });
});
