import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { requestOf } from "./bridge";
import { RendererFrame } from "./frame";

vi.mock("@/api/signed-url", () => ({ signedURL: async (url: string) => `${url}?signed=s` }));

afterEach(cleanup);

describe("the requests of a frame", () => {
  it.each([
    [{ shoal: 1, type: "ready" }, { type: "ready" }],
    [{ shoal: 1, type: "height", px: 99999 }, { type: "height", px: 2000 }],
    [{ shoal: 1, type: "height", px: -5 }, { type: "height", px: 24 }],
    [{ shoal: 1, type: "answer", value: { a: 1 } }, { type: "answer", value: { a: 1 } }],
    [{ shoal: 1, type: "open", url: "https://a.example" }, { type: "open", url: "https://a.example" }],
    [{ type: "ready" }, undefined],
    [{ shoal: 1, type: "eval", code: "x" }, undefined],
    [{ shoal: 1, type: "height", px: "100%" }, undefined],
    [{ shoal: 1, type: "answer", value: undefined }, undefined],
    [{ shoal: 1, type: "answer", value: "x".repeat(300_000) }, undefined],
    ["ready", undefined],
    [null, undefined],
  ])("%j", (said, request) => expect(requestOf(said)).toEqual(request));
});

describe("the frame of a custom renderer", () => {
  const show = async () => {
    const propose = vi.fn();
    const { container } = render(
      <RendererFrame url="/console/renderers/default/Card/1" tool="show" args={{ a: 1 }} argsStatus="complete" result={null} state="requires_action" canAnswer theme="dark" onPropose={propose} />,
    );
    expect(container.querySelector("iframe")).toBeNull(); // its address is not known yet
    const frame = await vi.waitUntil(() => container.querySelector("iframe"));
    if (frame.contentWindow === null) throw new Error("there is no frame");
    const post = vi.spyOn(frame.contentWindow, "postMessage");
    const say = (data: unknown, source: Window | null = frame.contentWindow) => act(() => void window.dispatchEvent(new MessageEvent("message", { data, source })));
    return { frame, post, say, propose };
  };

  it("may run its script and nothing else", async () => {
    const { frame } = await show();
    expect(frame.getAttribute("sandbox")).toBe("allow-scripts");
    expect(frame.getAttribute("referrerpolicy")).toBe("no-referrer");
    expect(frame.getAttribute("src")).toBe("/console/renderers/default/Card/1?signed=s");
  });

  it("receives what to draw once it is ready", async () => {
    const { post, say } = await show();
    expect(post).not.toHaveBeenCalled();
    say({ shoal: 1, type: "ready" });
    expect(post).toHaveBeenCalledWith(expect.objectContaining({ shoal: 1, type: "render", args: { a: 1 }, canAnswer: true, theme: "dark" }), "*");
  });

  it("is heard alone: what other windows say is not for it", async () => {
    const { propose, say } = await show();
    say({ shoal: 1, type: "answer", value: 1 }, window);
    say({ shoal: 1, type: "answer", value: 1 }, null);
    expect(propose).not.toHaveBeenCalled();
    say({ shoal: 1, type: "answer", value: 1 });
    expect(propose).toHaveBeenCalledWith(1);
  });

  it("grows to the requested height, within bounds", async () => {
    const { frame, say } = await show();
    say({ shoal: 1, type: "height", px: 333 });
    expect(frame.style.height).toBe("333px");
  });

  it("opens a page only when its reader says so, and no program", async () => {
    const { say } = await show();
    say({ shoal: 1, type: "open", url: "javascript:alert(1)" });
    expect(screen.queryByRole("link")).toBeNull();
    say({ shoal: 1, type: "open", url: "https://a.example/x" });
    expect(screen.getByRole("status").textContent).toContain("a.example");
    expect(screen.getByRole("link").getAttribute("rel")).toBe("noopener noreferrer");
    fireEvent.click(screen.getByRole("button", { name: "No" }));
    expect(screen.queryByRole("link")).toBeNull();
  });
});
