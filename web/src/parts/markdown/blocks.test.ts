import { describe, expect, it } from "vitest";
import { Splitter } from "./blocks";
import { rendered } from "./measure";

const whole = (text: string) => new Splitter().split(text).map((b) => b.text);

describe("a text in blocks", () => {
  it("keeps a loose list, its second paragraphs and its inner lists together", () => {
    expect(whole("1. one\n\n   more\n2. two\n\n   - inner\n\nafter")).toEqual(["1. one\n\n   more\n2. two\n\n   - inner", "after"]);
  });

  it("keeps blank lines inside a fence together, and reports its language", () => {
    const [block] = new Splitter().split("```go\na\n\nb\n```");
    expect(block?.code).toEqual({ language: "go", text: "a\n\nb" });
  });

  it("gives each block the definitions of links that it refers to", () => {
    expect(whole("see [a][x]\n\nand b\n\n[x]: https://x.example")).toEqual(["see [a][x]\n\n[x]: https://x.example", "and b"]);
  });

  it("finds a definition whatever the case and the spaces of its label", () => {
    expect(whole("[The  Manual]\n\n[the manual]: https://x.example")[0]).toContain("https://x.example");
  });

  it("reads lines of all kinds of line ends", () => {
    expect(whole("a\r\n\r\nb\r\rc")).toEqual(["a", "b", "c"]);
  });
});

const texts = [
  "para\n\n# head\n\n- a\n- b\n\n  c\n\n1. x\n\n2. y\n\n> q\n> r\n\n```js\nlet a\n\nlet b\n```\nend\n",
  "1. a\n\n2. b\n\n3. c\n\npara\n---\nnext\n===\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nafter",
  "[a] and [b]\n\ntext\n\n[a]: https://a.example\n[b]: <https://b.example> \"t\"\n\n* x\n\n* y\n",
  "<div>\n\nhello\n\n</div>\n\n    code\n\n    more\n\nx\n\n- [ ] t\n- [x] u\n***\n~~~\nopen",
  "a\n\n\n\nb  \nc\n\n+ d\n+ e\n\n\n  f\n\n+ g\n\n10) h\n\n11) i\n",
];

describe("a text that grows", () => {
  it.each(texts)("is split like one that came at once: %j", (text) => {
    const growing = new Splitter();
    for (let i = 1; i <= text.length; i++) {
      const prefix = text.slice(0, i);
      expect(growing.split(prefix).map((b) => b.text)).toEqual(whole(prefix));
    }
  });

  it("keeps the blocks that have not changed", () => {
    const s = new Splitter();
    const before = s.split("one\n\ntwo\n\nthr");
    const after = s.split("one\n\ntwo\n\nthree");
    expect(after[0]).toBe(before[0]);
    expect(after[1]).toBe(before[1]);
    expect(after[2]).not.toBe(before[2]);
  });

  it("is parsed again after it was truncated", () => {
    const s = new Splitter();
    s.split("one\n\ntwo\n\nthree");
    expect(s.split("one\n\nother").map((b) => b.text)).toEqual(["one", "other"]);
  });

  it("is not read from its beginning for every delta", () => {
    const text = Array.from({ length: 1000 }, (_, i) => `Paragraph ${i}: ${"word ".repeat(18)}`).join("\n\n");
    expect(text.length).toBeGreaterThan(100_000);
    const s = new Splitter();
    const before = rendered.read;
    let deltas = 0;
    for (let i = 50; i < text.length; i += 50, deltas++) s.split(text.slice(0, i));
    expect((rendered.read - before) / deltas).toBeLessThan(500);
  });
});
