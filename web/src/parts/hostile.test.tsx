// Nothing that somebody else writes runs, loads or leads anywhere by itself.
// (OWASP LLM05, ASI09.)
import { cleanup, configure, render, waitFor } from "@testing-library/react";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Part, PendingAction, ToolPart } from "@shoal-dev/client";
import { Answer } from "./answer/answer";
import { RemoteImage } from "./words/link";
import { asked, canary, dangers, everywhere, schemas, texts, values, words } from "./hostile.mjs";
import { Markdown } from "./markdown/markdown";
import { Value } from "./renderers/value";
import type { Look } from "./renderers/shape";
import { StillPart } from "./still-part";
import { ToolCard } from "./tool/card";

configure({ asyncUtilTimeout: 20_000 });
vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });
const never = () => new Promise<PendingAction>(() => undefined);
const nameOf = (id: string) => id;
const draw = (part: Part) => (part.type === "tool_call" ? <ToolCard part={part as ToolPart} nameOf={nameOf} whole /> : <StillPart part={part} over={false} />);
const answer = (pending: PendingAction) => <Answer pending={pending} submit={never} nameOf={nameOf} />;
const pendingWith = (resultSchema: unknown): PendingAction => ({ ...(asked("x")[2] as PendingAction), resultSchema });

// What is loaded when it is wanted is there from the beginning.
beforeAll(async () => {
  const values = [{ type: "bar", x: "a", y: ["b"], data: [{ a: 1, b: 2 }] }, { before: "a", after: "b" }, [{ a: 1 }]];
  const { container } = render(values.map((v, i) => <Value key={i} value={v} hint={i === 1 ? "diff" : undefined} />));
  const form = render(answer(pendingWith({ type: "object", properties: { a: { type: "string" }, b: { type: "string" } } })));
  await waitFor(() => {
    expect(container.textContent).not.toContain("Loading");
    expect(form.container.textContent).not.toContain("Loading");
  });
});
afterEach(cleanup);

describe("hostile content", () => {
  it("is there in number", () => {
    expect(texts.length + values.length + schemas.length).toBeGreaterThan(150);
  });

  it.each(texts)("as markdown: $name", ({ text }) => {
    const { container } = render(<Markdown text={text} />);
    expect(dangers(container)).toEqual([]);
    expect(container.querySelector(`[src*="${new URL(canary).host}"]`)).toBeNull();
  });

  it.each(texts)("as markdown that grows: $name", ({ text }) => {
    const cut = text.slice(0, Math.ceil(text.length * 0.7));
    const { container, rerender } = render(<Markdown streaming text={cut} />);
    expect(dangers(container)).toEqual([]);
    rerender(<Markdown streaming text={text} />);
    expect(dangers(container)).toEqual([]);
  });

  it.each(words)("in every place: $name", ({ text }) => {
    const { container } = render(
      <>
        {everywhere(text).map((p, i) => (
          <div key={i}>{draw(p)}</div>
        ))}
        {asked(text).map((p, i) => (
          <div key={i}>{answer(p)}</div>
        ))}
      </>,
    );
    expect(dangers(container)).toEqual([]);
    expect(container.querySelector(`[src*="${new URL(canary).host}"]`)).toBeNull();
  });

  it.each(values)("as a value: $name", ({ value }) => {
    const looks: (Look | undefined)[] = [undefined, "kv", "table", "chart", "image", "markdown", "code", "diff", "file", "json", "content"];
    const { container } = render(looks.map((hint, i) => <Value key={i} value={value} hint={hint} />));
    expect(dangers(container)).toEqual([]);
    expect(container.querySelectorAll("*").length).toBeLessThan(100_000);
  });

  it.each(schemas)("as a schema: $name", ({ value }) => {
    const { container } = render(answer(pendingWith(value)));
    expect(dangers(container)).toEqual([]);
    expect(container.querySelector("button, textarea")).not.toBeNull();
  });
});

describe("the check itself", () => {
  it.each(["<script></script>", "<img src=x>", "<a href='javascript:1'>x</a>", "<p onclick=x>", "<iframe></iframe>", "<p style='background:url(x)'>", "<svg></svg>", "<a id=location></a>", "<img src='https://canary.example/a.png'>"])("finds %s", (html) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    expect(dangers(page)).not.toEqual([]);
  });

  it("does not mind a remote picture as a link", () => {
    const { container } = render(<RemoteImage src={`${canary}/a.png`} alt="a" />);
    expect(dangers(container)).toEqual([]);
    expect(container.textContent).toContain("canary.example");
  });
});
