// What a page sends: messages, and answers to what runs wait for.
import { act, cleanup, render, renderHook, screen, waitFor } from "@testing-library/react";
import { type ReactNode, StrictMode } from "react";
import { afterEach, expect, expectTypeOf, it } from "vitest";
import { ConflictError, type Message, textOf } from "@shoal-dev/client";
import { createRenderers, ShoalProvider, ToolCall, type ToolProps, useComposer, useMessages, usePendingActions, useTool } from "../src/index.js";
import { message, pendingAction, Server, text, tool } from "./server.js";

afterEach(cleanup);

const within = (server: Server) => ({ wrapper: ({ children }: { children: ReactNode }) => <ShoalProvider client={server.shoal}>{children}</ShoalProvider> });
const posts = (server: Server) => server.calls.filter((c) => c.method === "POST");
/** What a person sees: the timeline, then what is on its way. */
const useChat = () => {
  const [{ messages }, composer] = [useMessages("shop"), useComposer("shop")];
  return { ...composer, shown: [...messages.map(textOf), ...composer.outgoing.map((o) => `${o.text}…`)] };
};

async function chat(server: Server) {
  const seen: string[] = [];
  const drawn = renderHook(() => {
    const all = useChat();
    if (seen[seen.length - 1] !== all.shown.join(", ")) seen.push(all.shown.join(", "));
    return all;
  }, within(server));
  await waitFor(() => expect(server.open).toBe(1));
  await act(async () => server.begin([message(1)]));
  await waitFor(() => expect(drawn.result.current.shown).toEqual(["message 1"]));
  return { ...drawn, seen };
}

it("shows a message at once, and then the stored one in its place, whichever way it comes first", async () => {
  for (const streamFirst of [true, false]) {
    const server = new Server();
    const { result, seen, unmount } = await chat(server);
    const stored = message(2, { parts: [text("Hello")] });
    let respond: (r: Response) => void = () => undefined;
    server.answer = ({ method }) => (method === "POST" ? new Promise((resolve) => (respond = resolve)) : undefined);
    await act(async () => void (await result.current.send({ text: "Hello", mentions: ["bot"] })));
    expect(result.current.shown).toEqual(["message 1", "Hello…"]);
    await waitFor(() => expect(posts(server)).toHaveLength(1));
    expect(posts(server)[0]?.body).toEqual({ text: "Hello", mentions: ["bot"] });
    if (streamFirst) server.emit({ type: "message.created", message: stored });
    if (streamFirst) await waitFor(() => expect(result.current.shown).toEqual(["message 1", "Hello"]));
    await act(async () => respond(Response.json(stored, { status: 201 })));
    await waitFor(() => expect([result.current.shown, result.current.outgoing]).toEqual([["message 1", "Hello"], []]));
    expect(seen.slice(-3)).toEqual(["message 1", "message 1, Hello…", "message 1, Hello"]);
    unmount();
  }
});

it("sends again with the same key after a broken connection, and in order", async () => {
  const server = new Server();
  const { result } = await chat(server);
  let seq = 1;
  let failures = 2;
  server.answer = ({ method, body }) => {
    if (method !== "POST") return undefined;
    if (failures-- > 0) return Promise.reject(new TypeError("fetch failed"));
    return Response.json(message(++seq, { parts: [text((body as { text: string }).text)] }), { status: 201 });
  };
  await act(async () => void (await Promise.all([result.current.send("one"), result.current.send("two")])));
  expect(result.current.shown).toEqual(["message 1", "one…", "two…"]);
  await waitFor(() => expect(result.current.shown).toEqual(["message 1", "one", "two"]), { timeout: 5000 });
  const keys = posts(server).map((c) => `${(c.body as { text: string }).text} ${c.headers["Idempotency-Key"]}`);
  expect([keys.length, new Set(keys).size]).toEqual([4, 2]);
});

it("keeps what is sent before the server has answered who is sending", async () => {
  const server = new Server();
  let respond: (r: Response) => void = () => undefined;
  server.answer = ({ path }) => (path === "/v1/me" ? new Promise((resolve) => (respond = resolve)) : undefined);
  const { result } = renderHook(useChat, within(server));
  await act(async () => void (await result.current.send("early")));
  expect(result.current.shown).toEqual(["early…"]);
  server.answer = ({ method }) => (method === "POST" ? Response.json(message(2, { parts: [text("early")] }), { status: 201 }) : undefined);
  await act(async () => respond(Response.json({ role: "entity", entityId: "ann", keyId: "key_1", sessionId: "default" })));
  await waitFor(() => expect(server.open).toBe(1));
  server.begin([message(1)]);
  server.emit({ type: "message.created", message: message(2, { parts: [text("early")] }) });
  await waitFor(() => expect(result.current.shown).toEqual(["message 1", "early"]));
});

it("says why a message was refused, and sends or drops it then", async () => {
  const server = new Server();
  const { result } = await chat(server);
  server.answer = ({ method }) => (method === "POST" ? Response.json({ code: "too_large", detail: "It is too long." }, { status: 413 }) : undefined);
  await act(async () => void (await result.current.send("long")));
  await waitFor(() => expect(result.current.outgoing[0]?.refused).toBe("It is too long."));
  const [key] = result.current.outgoing.map((o) => o.key);
  await act(() => result.current.retry(key ?? ""));
  await waitFor(() => expect(posts(server)).toHaveLength(2));
  await waitFor(() => expect(result.current.outgoing[0]?.refused).toBe("It is too long."));
  await act(() => result.current.discard(key ?? ""));
  expect(result.current.shown).toEqual(["message 1"]);
});

it("executes a client tool once, in strict mode, and only for the person's own runs", async () => {
  const server = new Server();
  const called: unknown[] = [];
  const Maps = () => (useTool("showMap", ({ place }: { place: string }) => (called.push(place), { shown: true })), null);
  render(<StrictMode><ShoalProvider client={server.shoal}><Maps /></ShoalProvider></StrictMode>);
  await waitFor(() => expect(server.open).toBe(1));
  const of = (id: string, place: string, requester: string) => pendingAction({ id, toolName: "showMap", args: { place }, requesters: [requester], runId: id });
  const [mine, hers] = [of("pnd_1", "Oslo", "ann"), of("pnd_2", "Bergen", "bea")];
  server.lists = { "pending-actions": [mine, hers] };
  server.answer = ({ method }) => (method === "POST" ? Response.json({ ...mine, status: "answered" }) : undefined);
  server.begin([message(1)]);
  server.emit({ type: "pending.opened", pendingAction: hers }, { type: "pending.opened", pendingAction: mine });
  await waitFor(() => expect(posts(server)).toHaveLength(1));
  expect([called, posts(server)[0]?.path, posts(server)[0]?.body]).toEqual([["Oslo"], "/v1/sessions/default/pending-actions/pnd_1/answer", { result: { shown: true } }]);
});

interface Product {
  readonly name: string;
  readonly price: number;
}
const Card = ({ status, args, result, action, submit }: ToolProps<Product, { chosen: boolean }>) => (
  <p>
    {status === "input_streaming" ? `${args.name ?? "…"}` : `${args.name} ${args.price.toFixed(2)}`} {status} {String(result?.chosen)}
    {action && <button onClick={() => void submit({ chosen: true })}>Choose</button>}
  </p>
);
const renderers = createRenderers({ ProductCard: Card });
const Parts = () => useMessages("shop").messages.flatMap((m: Message) => m.parts.map((p) => <ToolCall key={p.id} part={p} fallback={({ part, status }) => <p>{`${part.toolName} ${status}`}</p>} />));

it("draws a tool with its component while its arguments are written, and returns the choice", async () => {
  const server = new Server();
  const { container } = render(<ShoalProvider client={server.shoal} renderers={renderers}><Parts /></ShoalProvider>);
  await waitFor(() => expect(server.open).toBe(1));
  server.begin([message(2, { entityId: "bot", status: "streaming", parts: [] })]);
  const of = { messageId: "msg_2", partId: "prt_2", toolCallId: "call-1", toolName: "showProductCard" };
  server.emit({ type: "tool-input-start", ...of, display: { customUI: "ProductCard" } });
  await waitFor(() => expect(container.textContent).toBe("… input_streaming undefined"));
  server.emit({ type: "tool-input-delta", ...of, offset: 0, delta: '{"name": "Lark", "pri' });
  await waitFor(() => expect(container.textContent).toBe("Lark input_streaming undefined"));
  server.emit({ type: "tool-input-available", ...of, args: { name: "Lark", price: 1199 } }, { type: "pending.opened", pendingAction: pendingAction() });
  await waitFor(() => expect(container.textContent).toBe("Lark 1199.00 running undefinedChoose"));
  server.answer = ({ path }) => (path.endsWith("/pnd_1/answer") ? Response.json(pendingAction({ status: "answered" })) : undefined);
  await act(async () => screen.getByText("Choose").click());
  expect(posts(server)[0]?.body).toEqual({ result: { chosen: true } });
  await waitFor(() => expect(container.textContent).toBe("Lark 1199.00 running undefined"));
  server.emit({ type: "tool-output-available", ...of, result: { chosen: true }, error: null, answeredBy: "ann", decision: null, status: "done" });
  await waitFor(() => expect(container.textContent).toBe("Lark 1199.00 done true"));
});

it("draws other tools with the fallback, also one with the name of a method, and private ones not at all", async () => {
  const server = new Server();
  const { container } = render(<ShoalProvider client={server.shoal} renderers={renderers}><Parts /></ShoalProvider>);
  await waitFor(() => expect(server.open).toBe(1));
  server.begin([message(1, { parts: [text("no tool"), tool({ toolName: "constructor" }), { id: "prt_9", type: "tool_call", private: true } as never] })]);
  await waitFor(() => expect(container.textContent).toBe("constructor running"));
});

it("lists what waits, and rejects when another answer was first", async () => {
  const server = new Server();
  server.lists = { "pending-actions": [pendingAction({ kind: "permission" }), pendingAction({ id: "pnd_2", spaceId: "other" })] };
  const { result } = renderHook(() => usePendingActions("shop"), within(server));
  await waitFor(() => expect(server.open).toBe(1));
  server.begin([message(1)]);
  await waitFor(() => expect(result.current.actions.map((a) => a.id)).toEqual(["pnd_1"]));
  server.answer = ({ method }) => (method === "POST" ? Response.json({ code: "already_answered", detail: "Somebody was faster." }, { status: 409 }) : undefined);
  await expect(result.current.answer("pnd_1", { approved: true })).rejects.toThrow(ConflictError);
  server.emit({ type: "pending.settled", pendingAction: pendingAction({ kind: "permission", status: "answered" }) });
  await waitFor(() => expect(result.current.actions).toEqual([]));
});

it("has typed props", () => {
  // While the model writes, each argument may be missing; afterwards none is (see Card).
  expectTypeOf<ToolProps<Product>["args"]>().toEqualTypeOf<Product | Partial<Product>>();
  expectTypeOf<Parameters<ToolProps<Product, { chosen: boolean }>["submit"]>[0]>().toEqualTypeOf<{ chosen: boolean }>();
  // @ts-expect-error: a component that needs other props cannot be a renderer
  createRenderers({ wrong: ({ title }: { title: string }) => <p>{title}</p> });
});
