// Client tools over a server that knows which actions are open.
import { afterEach, expect, it, vi } from "vitest";
import { Shoal } from "./shoal.js";
import { type ClientTool, type ClientToolOptions, ClientTools } from "./tools.js";
import type { PendingAction } from "./types.js";

afterEach(() => vi.unstubAllGlobals());

const action = (some: Partial<PendingAction> = {}): PendingAction => ({
  id: "pnd_1", kind: "client_tool", runId: "run_1", agentId: "bot", spaceId: "shop", messageId: null, partId: null, toolCallId: "call-1", toolName: "showMap", args: { place: "Oslo" },
  question: null, options: null, resultSchema: null, status: "open", expiresAt: null, createdAt: "2026-11-20T10:00:00.000Z", answeredBy: null, answeredAt: null, by: null, quorum: 1, notRequester: false,
  choose: null, votes: [], eligible: 1, requesters: ["ann"], argsHash: "", argsSchema: null, editedArgs: null, decision: null, triggerText: null, triggerEditedAt: null, ...some,
});

/** A server with these open actions, and programs that execute the tool. */
function world(...open: PendingAction[]) {
  const answers: unknown[] = [];
  let refuse: ((body: { result?: unknown }) => Response | undefined) | undefined;
  const fetch = (url: string, request?: RequestInit): Promise<Response> => {
    const { pathname, searchParams } = new URL(url);
    if (pathname === "/v1/me") return Promise.resolve(Response.json({ role: "entity", entityId: "ann", keyId: "key_1", sessionId: "default" }));
    if (request?.method === "GET") return Promise.resolve(Response.json({ items: open.filter((a) => a.runId === (searchParams.get("run") ?? a.runId)), nextCursor: null }));
    const body = JSON.parse(String(request?.body)) as { result?: unknown };
    answers.push(body);
    const refused = refuse?.(body);
    if (refused !== undefined) return Promise.resolve(refused);
    const [settled] = open.splice(open.findIndex((a) => pathname.includes(a.id)), 1);
    return Promise.resolve(Response.json({ ...settled, status: "answered" }));
  };
  const program = (handler: ClientTool<{ place: string }>, options: ClientToolOptions = {}) => {
    const tools = new ClientTools(new Shoal({ url: "http://shoal.test", key: "key", fetch: fetch as typeof globalThis.fetch }));
    return { tools, remove: tools.add("showMap", handler as ClientTool, options) };
  };
  return { answers, open, program, refuse: (fn: typeof refuse) => (refuse = fn) };
}

const soon = (fn: () => void) => vi.waitFor(fn, { timeout: 10_000 });

it("executes a call once, however often it is reported, and returns the result", async () => {
  const { answers, program } = world(action());
  const handler = vi.fn(({ place }: { place: string }) => `map of ${place}`);
  const { tools } = program(handler);
  tools.offer(action());
  tools.offer(action());
  tools.offer(action({ kind: "permission", id: "pnd_2" }));
  tools.offer(action({ toolName: "other", id: "pnd_3" }));
  await soon(() => expect(answers).toEqual([{ result: "map of Oslo" }]));
  expect(handler).toHaveBeenCalledTimes(1);
});

it("answers with null for a handler that returns nothing", async () => {
  const { answers, program } = world(action());
  program(() => undefined).tools.offer(action());
  await soon(() => expect(answers).toEqual([{ result: null }]));
});

it("answers with the error that a handler throws, but not with a fault of the program", async () => {
  for (const [thrown, text] of [[new Error("no such place"), "no such place"], [new TypeError("x is not a function"), "The program has a fault."]] as const) {
    const { answers, program } = world(action());
    const onError = vi.fn();
    program(() => Promise.reject(thrown), { onError }).tools.offer(action());
    await soon(() => expect(answers).toEqual([{ error: text }]));
    expect(onError).toHaveBeenCalledWith(thrown);
  }
});

it("does not execute what the caller may not answer, or somebody has answered", async () => {
  const { answers, open, program } = world();
  const handler = vi.fn();
  const { tools } = program(handler);
  tools.offer(action());
  const last = action({ id: "pnd_2", runId: "run_2" });
  open.push(last);
  tools.offer(last);
  await soon(() => expect(answers).toHaveLength(1));
  expect(handler).toHaveBeenCalledTimes(1);
});

it("aborts a call that is settled meanwhile, and one whose handler is removed, and answers neither", async () => {
  for (const settle of [true, false]) {
    const { answers, program } = world(action());
    let signal: AbortSignal | undefined;
    let end: (() => void) | undefined;
    const { tools, remove } = program((_, call) => new Promise<void>((resolve) => ((signal = call.signal), (end = resolve))));
    tools.offer(action());
    await soon(() => expect(signal).toBeDefined());
    if (settle) tools.offer(action({ status: "canceled" }));
    else remove();
    expect(signal?.aborted).toBe(true);
    end?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(answers).toEqual([]);
  }
});

it("answers with an error when the result does not match the schema", async () => {
  const { answers, program, refuse } = world(action());
  refuse((body) => ("result" in body ? Response.json({ code: "invalid_argument", detail: "day is missing" }, { status: 422 }) : undefined));
  const onError = vi.fn();
  program(() => ({}), { onError }).tools.offer(action());
  await soon(() => expect(answers).toEqual([{ result: {} }, { error: "The result of the program is not valid: day is missing" }]));
  await soon(() => expect(onError).toHaveBeenCalledTimes(1));
});

it("executes only calls of the space, and of the caller's own runs, if it should", async () => {
  const { answers, open, program } = world(action(), action({ id: "pnd_2", requesters: ["bea"] }), action({ id: "pnd_3", spaceId: "other" }));
  const places: string[] = [];
  const { tools } = program((_, { action: { id } }) => void places.push(id), { mine: true, space: "shop" });
  for (const a of [...open].reverse()) tools.offer(a);
  await soon(() => expect(answers).toHaveLength(1));
  expect(places).toEqual(["pnd_1"]);
});

it("is executed by one of several tabs", async () => {
  const turns = new Map<string, Promise<void>>();
  const request = (name: string, work: () => Promise<void>): Promise<void> => {
    const turn = (turns.get(name) ?? Promise.resolve()).then(work);
    turns.set(name, turn);
    return turn;
  };
  vi.stubGlobal("navigator", { locks: { request } });
  const { answers, program } = world(action());
  const handler = vi.fn(() => "shown");
  const tabs = [program(handler), program(handler), program(handler)];
  for (const { tools } of tabs) tools.offer(action());
  await soon(() => expect(answers).toHaveLength(1));
  await Promise.all(turns.values());
  expect(handler).toHaveBeenCalledTimes(1);
});
