import { act, cleanup, configure, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Problem } from "@/api/problem";
import type { PendingAction } from "@/api/shapes";
import { pending } from "../gallery-parts";
import { Answer, type AnswerProps } from "./answer";

configure({ asyncUtilTimeout: 20_000 });
vi.setConfig({ testTimeout: 30_000 });
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const nameOf = (id: string) => ({ ada: "Ada" })[id] ?? id;

function show(p: PendingAction, more: Partial<AnswerProps> = {}) {
  const sent: string[] = [];
  const submit = more.submit ?? ((body: string) => (sent.push(body), Promise.resolve({ ...p, status: "answered" as const, answeredBy: "ada", answeredAt: "2026-11-20T14:07:00.000Z" })));
  return { sent, ...render(<Answer pending={p} nameOf={nameOf} {...more} submit={submit} />) };
}

const press = (name: string) => userEvent.click(screen.getByRole("button", { name }));
const refused = (status: number, code: string, detail: string, errors: unknown[] = []) => () => Promise.reject(Problem.of(status, { status, code, detail, errors }));
const chosen = { type: "object", properties: { chosen: { type: "boolean" } }, required: ["chosen"] };

describe("a result", () => {
  it("that is not described is acknowledged", async () => {
    const { sent } = show(pending({}));
    await press("OK");
    expect(sent).toEqual(['{"result":{"acknowledged":true}}']);
    expect(screen.getByRole("status").textContent).toContain("Ada answered");
  });

  it("of yes or no has two buttons", async () => {
    const { sent } = show(pending({ resultSchema: chosen }));
    await press("Chosen: no");
    expect(sent).toEqual(['{"result":{"chosen":false}}']);
  });

  it("of some values has a button for each", async () => {
    const { sent } = show(pending({ resultSchema: { enum: [1, 2], title: "How many" } }));
    await press("2");
    expect(sent).toEqual(['{"result":2}']);
  });

  it("of more is filled in, and numbers stay exactly what was typed", async () => {
    const { sent } = show(pending({ resultSchema: { type: "object", properties: { id: { type: "integer" }, note: { type: "string" } }, required: ["id"] } }));
    await userEvent.type(await screen.findByLabelText(/^Id/), "9007199254740993");
    await press("Answer");
    expect(sent).toEqual(['{"result":{"id":9007199254740993}}']);
  });

  it("is not sent while a field is wrong, which is told at the field", async () => {
    const { sent } = show(pending({ resultSchema: { type: "object", properties: { id: { type: "integer" }, b: { type: "string" } }, required: ["id"] } }));
    await userEvent.type(await screen.findByLabelText(/^Id/), "many");
    await press("Answer");
    expect(sent).toEqual([]);
    expect(screen.getByLabelText(/^Id/).getAttribute("aria-invalid")).toBe("true");
    expect(document.activeElement).toBe(screen.getByLabelText(/^Id/));
  });

  it("that the server refuses is told at the field, and can be sent again", async () => {
    const p = pending({ resultSchema: { type: "object", properties: { zip: { type: "string" }, b: { type: "string" } }, required: ["zip"] } });
    show(p, { submit: refused(422, "invalid_argument", "…", [{ location: "result", message: "does not fit the tool's schema: result.zip: must match ^[0-9]{5}$" }]) });
    await userEvent.type(await screen.findByLabelText(/^Zip/), "x");
    await press("Answer");
    expect(screen.getByText("must match ^[0-9]{5}$")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Answer" }).hasAttribute("disabled")).toBe(false);
  });

  it("can be an error", async () => {
    const { sent } = show(pending({ resultSchema: chosen }));
    await press("Answer with an error");
    await userEvent.type(screen.getByLabelText("Why there is no result"), "no such shop");
    await press("Answer with this error");
    expect(sent).toEqual(['{"error":"no such shop"}']);
  });

  it("can be JSON, sent as it is written", async () => {
    const { sent } = show(pending({ resultSchema: chosen }));
    await press("Answer with JSON");
    await userEvent.click(screen.getByLabelText("Result as JSON"));
    await userEvent.paste('{"chosen": true, "n": 1.0}');
    await press("Answer");
    expect(sent).toEqual(['{"result":{"chosen": true, "n": 1.0}}']);
  });

  it("that a card proposes is sent only by the reader", async () => {
    const drop = vi.fn();
    const { sent } = show(pending({ resultSchema: chosen }), { proposal: { value: { chosen: true }, drop } });
    expect(sent).toEqual([]);
    await press("Send this answer");
    expect(sent).toEqual(['{"result":{"chosen":true}}']);
  });
});

describe("a permission", () => {
  const p = pending({ kind: "permission", toolName: "placeOrder" });

  it("is approved", async () => {
    const { sent } = show(p);
    await press("Approve");
    expect(sent).toEqual(['{"approved":true}']);
  });

  it("is denied with a reason, for later calls too", async () => {
    const { sent } = show(p);
    await userEvent.type(screen.getByLabelText(/^Reason/), "too dear");
    await userEvent.selectOptions(screen.getByLabelText("It holds for"), "always");
    await press("Always deny");
    expect(sent).toEqual(['{"approved":false,"reason":"too dear","remember":"deny"}']);
  });

  it("is given by no single key", async () => {
    const { sent } = show(p);
    await userEvent.click(screen.getByLabelText(/^Reason/));
    await userEvent.keyboard("{Enter}ya");
    expect(sent).toEqual([]);
    expect(document.activeElement?.tagName).toBe("INPUT");
  });

  it("that others have to give as well says so", async () => {
    show(p, { submit: () => Promise.resolve(p) });
    await press("Approve");
    expect(screen.getByRole("status").textContent).toContain("Your approval counts");
  });
});

describe("a question", () => {
  it("is answered by an option", async () => {
    const { sent } = show(pending({ kind: "question", question: "Which?", options: ["Paris", "Texas"] }));
    await press("Texas");
    expect(sent).toEqual(['{"answer":"Texas"}']);
  });

  it("is answered by words of one's own", async () => {
    const { sent } = show(pending({ kind: "question", question: "Which?", options: ["Paris"] }));
    await press("Something else…");
    await userEvent.type(screen.getByLabelText("Your own answer"), "Rome");
    await press("Answer");
    expect(sent).toEqual(['{"answer":"Rome"}']);
  });
});

describe("an answer that cannot be given", () => {
  it("while the server is away says why", () => {
    show(pending({ resultSchema: chosen }), { blocked: "The server does not answer." });
    expect(screen.getByRole("button", { name: "Chosen: yes" }).hasAttribute("disabled")).toBe(true);
    expect(screen.getByRole("status").textContent).toBe("The server does not answer.");
  });

  it("because somebody was first says who, and is no error", async () => {
    show(pending({}), { submit: refused(409, "already_answered", 'It was answered by "ada" already; the first answer stands.') });
    await press("OK");
    expect(screen.getByRole("status").textContent).toContain('"ada" already');
    expect(screen.queryByRole("alert")).toBeNull();
    expect(screen.queryByRole("button")).toBeNull();
  });

  it("tells who and when, once it is known", async () => {
    const p = pending({});
    const submit = refused(409, "already_answered", "…");
    const { rerender } = show(p, { submit });
    await press("OK");
    rerender(<Answer pending={{ ...p, status: "answered", answeredBy: "ada", answeredAt: "2026-11-20T14:07:00.000Z" }} nameOf={nameOf} submit={submit} />);
    expect(screen.getByRole("status").textContent).toMatch(/^Ada answered, .*\d\d:\d\d/);
  });

  it("because it has expired says so", async () => {
    show(pending({}), { submit: refused(410, "expired", "It has expired; it counts as denied.") });
    await press("OK");
    expect(screen.getByRole("status").textContent).toContain("has expired");
  });

  it("is off from the moment that it expires", () => {
    vi.useFakeTimers({ now: new Date("2026-11-20T10:00:00Z") });
    show(pending({ expiresAt: "2026-11-20T10:01:30.000Z" }));
    expect(screen.getByText(/Expires in 1 min 30 s/)).toBeTruthy();
    act(() => vi.advanceTimersByTime(91_000));
    expect(screen.getByText("It has expired and counts as denied.")).toBeTruthy();
    expect(screen.getByRole("button", { name: "OK" }).hasAttribute("disabled")).toBe(true);
  });

  it("for another reason says it, and can be tried again", async () => {
    show(pending({}), { submit: () => Promise.reject(Problem.unreachable()) });
    await press("OK");
    expect(screen.getByRole("alert").textContent).toContain("does not answer");
    expect(screen.getByRole("button", { name: "OK" }).hasAttribute("disabled")).toBe(false);
  });
});
