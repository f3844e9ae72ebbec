import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { pending, states, tool } from "../gallery-parts";
import { ToolCard } from "./card";

afterEach(cleanup);

const nameOf = (id: string) => ({ ada: "Ada", "shop-agent": "Shop Agent" })[id] ?? id;
const show = (props: Omit<Parameters<typeof ToolCard>[0], "nameOf">) => render(<ToolCard nameOf={nameOf} {...props} />);

describe("a tool call", () => {
  it("is folded while nothing is wrong with it, and opened by its reader", () => {
    const { container } = show({ part: tool({ toolName: "search", args: { q: "laptop" }, result: { found: 3 } }) });
    expect(container.textContent).not.toContain("laptop");
    fireEvent.click(screen.getByRole("button", { expanded: false }));
    expect(container.textContent).toContain("laptop");
    expect(container.textContent).toContain("Found3");
  });

  it.each(["error", "denied", "requires_action"] as const)("is open when it is %s", (status) => {
    const { container } = show({ part: tool({ toolName: "search", status, args: { q: "laptop" }, error: status === "error" ? "broken" : null }) });
    expect(container.textContent).toContain("laptop");
  });

  const sent = "ada has not decided and asks: Which one?\nThe call was not executed. Answer in the space; call again if it is still needed.";
  const notAnswered = "Permission denied. The call was not executed. Reason: Nobody answered in time.";
  const settled = (status: "answered" | "expired" | "canceled") => pending({ kind: "permission", status, ...(status === "answered" ? { answeredBy: "ada" } : {}) });
  it.each([
    ["denied", "Permission denied by ada. The call was not executed.", "ada", undefined, "deniedAda denied"],
    ["denied", "Permission denied by ada. The call was not executed. Reason: Too dear.\nAsk again.", "ada", undefined, "deniedToo dear.\nAsk again.Ada denied"],
    ["denied", "Permission denied by ada. The call was not executed. Reason: Too dear.", "ada", settled("answered"), "deniedToo dear.Ada denied"],
    ["denied", notAnswered, null, undefined, "deniedThe request was denied. Reason: Nobody answered in time."],
    ["denied", notAnswered, null, settled("expired"), "deniedExpired without an answer: counts as denied."],
    ["denied", "Permission denied. The call was not executed. Reason: The conversation ended before anybody answered.", null, settled("expired"), "deniedThe conversation ended before anybody answered.Expired without an answer: counts as denied."],
    ["denied", "Permission denied by a rule. The call was not executed.", null, undefined, "deniedA rule denied the request."],
    ["denied", sent, "ada", undefined, "sent backWhich one?Ada sent it back with a question"],
    ["denied", sent, "ada", settled("answered"), "sent backWhich one?Ada sent it back with a question"],
    ["denied", "Sent back with a question: Which one?", "ada", settled("answered"), "sent backWhich one?Ada sent it back with a question"],
    ["denied", "It was denied.", "ada", undefined, "deniedIt was denied.Ada denied"],
    ["error", "Error: Nobody answered in time.", null, pending({ status: "expired" }), "failedExpired without an answer: counts as denied."],
    ["canceled", "Error: canceled while it waited for an answer.", null, settled("canceled"), "canceledNot answered: the run has ended."],
    ["canceled", "canceled", null, undefined, "canceled"],
  ] as const)("says once what became of it, and by whom: %s, %j", (status, error, answeredBy, p, words) => {
    const { container } = show({ part: tool({ toolName: "order", status, error, answeredBy, display: { mode: "full" } }), pending: p });
    expect(container.textContent).toBe(`Orderorder${words}`);
  });

  it("reads who decided, why, and what is asked from the part's decision", () => {
    const by = { status: "denied", answeredBy: "ada", display: { mode: "full" } } as const;
    const decision = { approved: false, by: "ada", reason: null, ask: null };
    const { container, rerender } = show({ part: tool({ toolName: "order", ...by, error: "Permission denied by ada. The call was not executed. Reason: cut off he", decision: { ...decision, reason: "Too dear." } }) });
    expect(container.textContent).toBe("OrderorderdeniedToo dear.Ada denied");
    rerender(<ToolCard nameOf={nameOf} part={tool({ toolName: "order", ...by, error: "ada asks.", decision: { ...decision, ask: "Which one?" } })} />);
    expect(container.textContent).toBe("Orderordersent backWhich one?Ada sent it back with a question");
  });

  it("says a choice once", () => {
    const { container } = show({ part: tool({ toolName: "order", result: { chosen: true }, answeredBy: "ada" }), whole: true });
    expect(container.textContent).toBe("OrderorderChosenAda answered");
  });

  it("keeps what a tool that failed says", () => {
    const error = "Permission denied by ada. The call was not executed.";
    expect(show({ part: tool({ toolName: "order", status: "error", error, answeredBy: "ada" }) }).container.textContent).toContain(error);
  });

  it("is open when it is a card that is meant to be seen", () => {
    expect(show({ part: tool({ toolName: "show", display: { customUI: "ProductCard" }, args: { name: "Lark" } }) }).container.textContent).toContain("Lark");
  });

  it("opens by itself when it begins to wait, unless its reader has folded it", () => {
    const part = tool({ toolName: "order", status: "running", args: { q: "laptop" } });
    const { container, rerender } = show({ part });
    rerender(<ToolCard nameOf={nameOf} part={{ ...part, status: "requires_action" }} />);
    expect(container.textContent).toContain("laptop");
    fireEvent.click(screen.getByRole("button", { expanded: true }));
    rerender(<ToolCard nameOf={nameOf} part={{ ...part, status: "error", error: "x" }} />);
    expect(container.textContent).not.toContain("laptop");
  });

  it("is titled by what it is about, and folded once it is answered", () => {
    const card = { toolName: "showCard", display: { customUI: "ProductCard" }, args: { name: "Lark", about: "Light" } };
    const { container, rerender } = show({ part: tool({ ...card, status: "requires_action" }) });
    expect(container.textContent).toBe("LarkshowCardneeds an answerLightIt waits for somebody who may answer it.");
    expect(screen.getByRole("group", { name: "Lark" })).toBeTruthy();
    rerender(<ToolCard nameOf={nameOf} part={tool({ ...card, result: { chosen: false }, answeredBy: "ada" })} />);
    expect(container.textContent).toBe("LarkshowCardNot chosenAda answered");
    fireEvent.click(screen.getByRole("button", { expanded: false }));
    expect(container.textContent).toContain("Light");
  });

  it("keeps what came of an approved call open if that is a table", () => {
    const { container } = show({ part: tool({ toolName: "list", display: { mode: "full" }, result: [{ fish: "cod" }], answeredBy: "ada" }) });
    expect(container.textContent).toContain("Answer"); // the table itself is loaded later
  });

  it("is titled by its tool while it needs a permission, whatever its arguments say", () => {
    show({ part: tool({ toolName: "placeOrder", display: { mode: "full" }, status: "requires_action", args: { name: "Nothing to worry about" } }), pending: pending({ kind: "permission" }) });
    expect(screen.getByRole("group", { name: "Place order" }).textContent).toContain("Nothing to worry about");
  });

  it("that is running when its message has ended was interrupted", () => {
    const { container } = show({ part: tool({ toolName: "search", status: "running" }), over: true });
    expect(container.textContent).toContain("interrupted");
    expect(container.querySelector(".animate-spin")).toBeNull();
  });

  it("shows the name and the time of the answer", () => {
    const { container } = show({ part: tool({ toolName: "order", status: "done", display: { mode: "full" }, answeredBy: "ada" }), pending: pending({ kind: "permission", status: "answered", answeredBy: "ada", answeredAt: "2026-11-20T14:07:00.000Z" }) });
    expect(container.textContent).toMatch(/Ada approved, .*\d:\d\d/);
  });

  it("that needs a permission names the requester and the call", () => {
    const { container } = show({ part: tool({ toolName: "placeOrder", status: "requires_action", args: { product: "Lark" } }), pending: pending({ kind: "permission" }), answer: <button type="button">Approve</button> });
    expect(container.textContent).toContain("Shop Agent asks for permission to use placeOrder with:");
    expect(screen.getByRole("button", { name: "Approve" })).toBeTruthy();
  });

  it("keeps its answer outside of what a custom renderer draws", () => {
    show({ part: tool({ toolName: "x", status: "requires_action" }), pending: pending({}), custom: <div data-testid="frame" />, answer: <button type="button">OK</button> });
    expect(screen.getByTestId("frame").contains(screen.getByRole("button", { name: "OK" }))).toBe(false);
  });

  it("shows neither input nor output if its author hides them", () => {
    const { container } = show({ part: tool({ toolName: "x", display: { mode: "full", showInput: false, showOutput: false }, args: { q: "in" }, result: { a: "out" } }) });
    expect(container.textContent).toBe("Xxdone");
  });

  it.each(states)("has a word for its state: $title", ({ part, over, pending: p, took }) => {
    const { container } = show({ part, over, pending: p, took });
    expect(container.textContent).toMatch(/writing|running|needs an answer|done|Chosen|denied|failed|canceled|interrupted/);
  });
});
