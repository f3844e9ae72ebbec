import { act, cleanup, configure, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type PendingAction, ShoalError } from "@shoal-dev/client";
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
const refused = (status: number, code: string, detail: string, errors: unknown[] = []) => () => Promise.reject(ShoalError.of(status, { status, code, detail, errors }));
const chosen = { type: "object", properties: { chosen: { type: "boolean" } }, required: ["chosen"] };

it("a reader whose role decides on nothing of the kind sees the question, the votes and the reason, and no button", () => {
  show(pending({ kind: "permission", question: "May it pay?", quorum: 2 }), { refused: "Your role in this session does not decide on permissions." });
  expect(screen.getByText("May it pay?")).toBeTruthy();
  expect(screen.queryAllByRole("button")).toEqual([]);
  expect(screen.getByRole("status").textContent).toContain("Your role in this session does not decide on permissions.");
});

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

  it("is not sent while a field is wrong, and the error is shown at the field", async () => {
    const { sent } = show(pending({ resultSchema: { type: "object", properties: { id: { type: "integer" }, b: { type: "string" } }, required: ["id"] } }));
    await userEvent.type(await screen.findByLabelText(/^Id/), "many");
    await press("Answer");
    expect(sent).toEqual([]);
    expect(screen.getByLabelText(/^Id/).getAttribute("aria-invalid")).toBe("true");
    expect(document.activeElement).toBe(screen.getByLabelText(/^Id/));
  });

  it("that the server refuses shows the error at the field, and can be sent again", async () => {
    const p = pending({ resultSchema: { type: "object", properties: { zip: { type: "string" }, b: { type: "string" } }, required: ["zip"] } });
    show(p, { submit: refused(422, "invalid_argument", "…", [{ location: "result", message: "does not fit the tool's schema: result.zip: must match ^[0-9]{5}$" }]) });
    await userEvent.type(await screen.findByLabelText(/^Zip/), "x");
    await press("Answer");
    expect(screen.getByText("must match ^[0-9]{5}$")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Answer" }).hasAttribute("disabled")).toBe(false);
  });

  it("of one of several alternatives is chosen or skipped", async () => {
    const one = pending({ resultSchema: chosen, choose: "one" });
    const first = show(one);
    expect(screen.queryByRole("button", { name: /yes|no$/i })).toBeNull();
    await press("Choose");
    expect(first.sent).toEqual(['{"result":{"chosen":true}}']);
    cleanup();
    const second = show(one);
    await press("Skip");
    expect(second.sent).toEqual(['{"result":{"chosen":false}}']);
  });

  it("can be an error", async () => {
    const { sent } = show(pending({ resultSchema: chosen }));
    await press("More ways to answer");
    await press("Report a problem");
    await userEvent.type(screen.getByLabelText("Problem"), "no such shop");
    await press("Report problem");
    expect(sent).toEqual(['{"error":"no such shop"}']);
  });

  it("can be JSON, sent as it is written", async () => {
    const { sent } = show(pending({ resultSchema: chosen }));
    await press("More ways to answer");
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
    await userEvent.selectOptions(screen.getByLabelText("Remember this choice"), "tool");
    await userEvent.selectOptions(screen.getByLabelText("For"), "7 days");
    await press("Deny and remember");
    expect(sent).toEqual(['{"approved":false,"reason":"too dear","remember":{"decision":"deny","scope":"tool","forMs":604800000}}']);
  });

  it("is given by no single key", async () => {
    const { sent } = show(p);
    await userEvent.click(screen.getByLabelText(/^Reason/));
    await userEvent.keyboard("{Enter}ya");
    expect(sent).toEqual([]);
    expect(document.activeElement?.tagName).toBe("INPUT");
  });

  it("that others have to give as well shows the votes, and a vote can be changed", async () => {
    const two = { ...p, quorum: 2, eligible: 2, requesters: ["ada"], notRequester: true };
    const vote = { entityId: "uma", at: "2026-11-20T10:00:00.000Z", approved: true, result: null, error: null, editedArgs: null };
    show(two, { me: "uma", submit: () => Promise.resolve({ ...two, votes: [vote], eligible: 1 }) });
    expect(await screen.findByText("0 of 2 approvals")).toBeTruthy();
    expect(screen.getByText(/Asked for by Ada; somebody else has to answer/)).toBeTruthy();
    expect(screen.queryByLabelText("Remember this choice")).toBeNull();
    await press("Approve");
    expect(await screen.findByText("1 of 2 approvals")).toBeTruthy();
    expect(screen.getByText(/1 missing, 1 participant can still vote/)).toBeTruthy();
    expect(screen.getByRole("status").textContent).toContain("Vote recorded");
    await press("Change your vote");
    expect(screen.getByRole("button", { name: "Deny" })).toBeTruthy();
  });

  it("names the arguments that its reader saw, and settles equal calls only if asked to", async () => {
    const { sent } = show({ ...p, argsHash: "abc" }, { equal: 2 });
    await press("Approve");
    expect(sent).toEqual(['{"approved":true,"argsHash":"abc"}']);
    cleanup();
    const more = show({ ...p, argsHash: "abc" }, { equal: 2 });
    await userEvent.click(screen.getByLabelText("Also answer the 2 other identical calls"));
    await press("Deny");
    expect(more.sent).toEqual(['{"approved":false,"argsHash":"abc","alsoEqual":true}']);
  });

  const order = { ...p, argsHash: "abc", args: { sum: 5, to: "Kiel" }, argsSchema: { type: "object", properties: { sum: { type: "integer" }, to: { type: "string" } }, required: ["sum"] } };

  it("takes edited arguments, which are checked first", async () => {
    const { sent } = show(order);
    await press("Edit and approve");
    const sum = await screen.findByLabelText("Sum");
    await userEvent.clear(sum);
    await userEvent.type(sum, "few");
    await press("Approve with changes");
    expect(sent).toEqual([]);
    expect(sum.getAttribute("aria-invalid")).toBe("true");
    await userEvent.clear(sum);
    await userEvent.type(sum, "4");
    await press("Approve with changes");
    expect(sent).toEqual(['{"approved":true,"args":{"sum":4,"to":"Kiel"},"argsHash":"abc"}']);
  });

  it("shows at a field what the server has against edited arguments", async () => {
    show(order, { submit: refused(422, "invalid_argument", "…", [{ location: "body.args", message: "do not fit the tool's schema: args.to: must match ^[A-J]" }]) });
    await press("Edit and approve");
    await screen.findByLabelText(/^To/);
    await press("Approve with changes");
    expect(screen.getByText("must match ^[A-J]")).toBeTruthy();
  });

  it("with unchanged arguments is a plain approval", async () => {
    const { sent } = show(order);
    await press("Edit and approve");
    await screen.findByLabelText("Sum");
    await press("Approve with changes");
    expect(sent).toEqual(['{"approved":true,"argsHash":"abc"}']);
  });

  it("edits arguments that no form can hold as JSON", async () => {
    const { sent } = show({ ...order, args: { sum: 5, extra: true } });
    await press("Edit and approve");
    const json = await screen.findByLabelText("Arguments as JSON");
    await userEvent.clear(json);
    await userEvent.paste('{"sum": 9007199254740993}');
    await press("Approve with changes");
    expect(sent).toEqual(['{"approved":true,"args":{"sum": 9007199254740993},"argsHash":"abc"}']);
  });

  it("offers no edit where the executor takes none", () => {
    show(p);
    expect(screen.queryByRole("button", { name: "Edit and approve" })).toBeNull();
    expect(screen.getByText(/^The arguments cannot be changed here\./)).toBeTruthy();
  });

  it("is sent back with a question", async () => {
    const { sent } = show(p);
    await press("Ask a question");
    await userEvent.type(await screen.findByLabelText("Your question"), "Which address?");
    await press("Send back");
    expect(sent).toEqual(['{"approved":false,"ask":"Which address?"}']);
  });

  it("is not remembered by an entity outside of the list", () => {
    show({ ...p, by: ["uma", "humans"] }, { me: "ada" });
    expect(screen.queryByLabelText("Remember this choice")).toBeNull();
    cleanup();
    show({ ...p, by: ["uma", "humans"] }, { me: "uma" });
    expect(screen.getByLabelText("Remember this choice")).toBeTruthy();
  });

  it("for other arguments than were read is refused with what to do", async () => {
    show(order, { submit: refused(409, "args_changed", "…") });
    await press("Approve");
    expect(screen.getByRole("alert").textContent).toContain("Reload the page and review them");
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
  it("while the server is unreachable shows the reason", () => {
    show(pending({ resultSchema: chosen }), { blocked: "The server does not answer." });
    expect(screen.getByRole("button", { name: "Chosen: yes" }).hasAttribute("disabled")).toBe(true);
    expect(screen.getByRole("status").textContent).toBe("The server does not answer.");
  });

  it("because someone else was first names them, and is not an error", async () => {
    show(pending({}), { submit: refused(409, "already_answered", 'It was answered by "ada" already; the first answer stands.') });
    await press("OK");
    expect(screen.getByRole("status").textContent).toContain("Someone else answered first");
    expect(screen.queryByRole("alert")).toBeNull();
    expect(screen.queryByRole("button")).toBeNull();
  });

  it("shows the name and the time of the answer, once known", async () => {
    const p = pending({});
    const submit = refused(409, "already_answered", "…");
    const { rerender } = show(p, { submit });
    await press("OK");
    rerender(<Answer pending={{ ...p, status: "answered", answeredBy: "ada", answeredAt: "2026-11-20T14:07:00.000Z" }} nameOf={nameOf} submit={submit} />);
    expect(screen.getByRole("status").textContent).toMatch(/^Ada answered, .*\d:\d\d/);
  });

  it("because it has expired shows that", async () => {
    show(pending({}), { submit: refused(410, "expired", "It has expired; it counts as denied.") });
    await press("OK");
    expect(screen.getByRole("status").textContent).toContain("Too late");
  });

  it("is off from the moment that it expires", () => {
    vi.useFakeTimers({ now: new Date("2026-11-20T10:00:00Z") });
    show(pending({ expiresAt: "2026-11-20T10:01:30.000Z" }));
    expect(screen.getByText(/Expires in 1 min 30 s/)).toBeTruthy();
    act(() => vi.advanceTimersByTime(91_000));
    expect(screen.getByText("Expired: counts as denied.")).toBeTruthy();
    expect(screen.getByRole("button", { name: "OK" }).hasAttribute("disabled")).toBe(true);
  });

  it("for another reason shows it, and can be retried", async () => {
    show(pending({}), { submit: () => Promise.reject(ShoalError.unreachable()) });
    await press("OK");
    expect(screen.getByRole("alert").textContent).toContain("unreachable");
    expect(screen.getByRole("button", { name: "OK" }).hasAttribute("disabled")).toBe(false);
  });
});
