import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Markdown } from "./markdown";
import { rendered } from "./measure";

vi.mock("@/api/signed-url", () => ({ signedURL: async (url: string) => `${url}?signed=s`, forgetSigned: vi.fn() }));

vi.setConfig({ testTimeout: 30_000 });
afterEach(cleanup);

const html = (text: string) => render(<Markdown text={text} />).container;

describe("markdown", () => {
  it("drops the tags of HTML and keeps its words", () => {
    const c = html("a <b>bold</b> and Vec<u8>\n\n<div>\ninside\n</div>\n\nline<br>break");
    expect(c.textContent).toContain("a bold and Vec<u8>");
    expect(c.textContent).toContain("inside");
    expect(c.querySelector("b, .markdown div")).toBeNull();
    expect(c.querySelector("br")).not.toBeNull();
  });

  it("opens links in a tab of their own and shows the host where the words do not", () => {
    html("[here](https://evil.example/x) and https://plain.example/");
    const link = screen.getByText("here");
    expect(link.getAttribute("rel")).toBe("noopener noreferrer");
    expect(link.getAttribute("target")).toBe("_blank");
    expect(link.parentElement?.textContent).toContain("here (evil.example)");
    expect(link.parentElement?.textContent).not.toContain("(plain.example)");
  });

  it("shows the true host of words that name another", () => {
    expect(html("[https://bank.example](https://evil.example)").textContent).toContain("(evil.example)");
    expect(html("[https://bank.example@evil.example/](https://bank.example@evil.example/)").textContent).toContain("(evil.example)");
  });

  it("follows reference links over blocks", () => {
    html("see [the manual][m]\n\nmore\n\n[m]: https://docs.example/m");
    expect(screen.getByText("the manual").getAttribute("href")).toBe("https://docs.example/m");
  });

  it("loads pictures of this server only, by signed URLs", async () => {
    const c = html("![mine](/v1/sessions/default/files/fil_1) ![theirs](https://far.example/a.png)");
    await vi.waitFor(() => expect([...c.querySelectorAll("img")].map((i) => i.getAttribute("src"))).toEqual(["/v1/sessions/default/files/fil_1?signed=s"]));
    expect(c.textContent).toContain("load from far.example in a new tab");
  });

  it("marks what cannot be seen", () => {
    const c = html("pay \u202e0001\u202c now, a\u200bb, `c\u200bd`");
    expect(c.textContent).toBe("pay U+202E0001U+202C now, aU+200Bb, cU+200Bd");
  });

  it("draws what has begun as if it had ended, while more comes", () => {
    const { container } = render(<Markdown streaming text="so **bo" />);
    expect(container.querySelector("strong")?.textContent).toBe("bo");
  });

  it("shows a text of very many blocks in pages", () => {
    const c = html("a\n\n".repeat(1000));
    expect(c.querySelectorAll("p").length).toBe(300);
    screen.getByRole("button", { name: "Show more" }).click();
  });
});

describe("a heading", () => {
  it("is not a heading as long as it has no words", () => {
    for (const text of ["#", "## ", "# <b>", "# <b></b>", "before\n\n#"]) expect(html(text).querySelector("h4"), text).toBeNull();
    expect(html("# a").querySelector("h4")?.textContent).toBe("a");
    expect(html("# ![](/v1/sessions/default/files/fil_1)").querySelector("h4 img")).not.toBeNull();
  });
});

describe("a text that streams", () => {
  const text = `${Array.from({ length: 40 }, (_, i) => `Paragraph ${i} with **bold** and \`code\`.`).join("\n\n")}\n\n\`\`\`js\nlet a = 1\n\nlet b = 2\n\`\`\`\n\n1. one\n\n2. two\n\nend`;

  it("draws at most two blocks for each delta", () => {
    const { rerender } = render(<Markdown streaming text="" />);
    let most = 0;
    for (let i = 5; i <= text.length; i += 5) {
      const before = rendered.blocks;
      rerender(<Markdown streaming text={text.slice(0, i)} />);
      most = Math.max(most, rendered.blocks - before);
    }
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(2);
  });

  it("looks in the end like one that came at once", () => {
    const { container, rerender } = render(<Markdown streaming text="" />);
    for (let i = 7; i < text.length; i += 7) rerender(<Markdown streaming text={text.slice(0, i)} />);
    rerender(<Markdown text={text} />);
    expect(container.innerHTML).toBe(html(text).innerHTML);
  });
});
