// The hooks in a document: what is drawn again, and what is left when they are gone.
import { act, cleanup, render, renderHook, waitFor } from "@testing-library/react";
import { memo, type ReactNode, StrictMode } from "react";
import { afterEach, expect, it, vi } from "vitest";
import { type Message, textOf } from "@shoal-dev/client";
import type { Store } from "@shoal-dev/client/live";
import { ShoalProvider, useActiveRuns, useConnection, useMessage, useMessageIds, useMessages, usePresence, useRun, useSession, useSpace, useSpaces, useStore } from "../src/index.js";
import { entity, message, run, Server, text } from "./server.js";

afterEach(cleanup);

const within = (server: Server) => ({ wrapper: ({ children }: { children: ReactNode }) => <ShoalProvider client={server.shoal}>{children}</ShoalProvider> });

/** Draws a hook below a provider, with a stream that has begun. */
async function hook<T>(server: Server, use: () => T, messages: readonly Message[] = [message(1)]) {
  const drawn = renderHook(use, within(server));
  await waitFor(() => expect(server.open).toBe(1));
  await act(async () => server.begin(messages));
  return drawn;
}

const listeners = (store: Store): number => (store as unknown as { listeners: Map<string, unknown> }).listeners.size;

it("draws only the message that grows again, and the list of ids not at all", async () => {
  const server = new Server();
  const drawn: Record<string, number> = {};
  const count = (name: string) => (drawn[name] = (drawn[name] ?? 0) + 1);
  const Row = memo(({ message: m }: { message: Message }) => (count(m.id), <p>{textOf(m)}</p>));
  const List = () => (count("list"), useMessages("shop").messages.map((m) => <Row key={m.id} message={m} />));
  const Own = ({ id }: { id: string }) => (count(`own ${id}`), <p>{textOf(useMessage(id) ?? message(0))}</p>);
  const Ids = () => (count("ids"), useMessageIds("shop").map((id) => <Own key={id} id={id} />));
  const { container } = render(<ShoalProvider client={server.shoal}><List /><Ids /></ShoalProvider>);
  await waitFor(() => expect(server.open).toBe(1));
  server.begin([message(1), message(2), message(3, { entityId: "bot", status: "streaming", parts: [text("", { status: "streaming" })] })]);
  await waitFor(() => expect(container.querySelectorAll("p")).toHaveLength(6));
  const before = { ...drawn };
  for (const [i, delta] of ["one ", "two ", "three"].entries()) {
    server.emit({ type: "text-delta", messageId: "msg_3", partId: "prt_1", offset: 4 * i, delta });
    await waitFor(() => expect([...container.querySelectorAll("p")].filter((p) => p.textContent?.endsWith(delta))).toHaveLength(2));
  }
  const more = Object.fromEntries(Object.entries(drawn).map(([name, n]) => [name, n - (before[name] ?? 0)]).filter(([, n]) => n !== 0));
  expect(more).toEqual({ list: 3, msg_3: 3, "own msg_3": 3 });
});

it("draws many deltas that arrive at once only once", async () => {
  const server = new Server();
  let drawn = 0;
  const { result } = await hook(server, () => (drawn++, useMessages("shop").messages), [message(1, { status: "streaming", parts: [text("", { status: "streaming" })] })]);
  await waitFor(() => expect(result.current).toHaveLength(1));
  const before = drawn;
  await act(async () => server.emit(...Array.from({ length: 50 }, (_, i) => ({ type: "text-delta", messageId: "msg_1", partId: "prt_1", offset: 2 * i, delta: "x " }))));
  await waitFor(() => expect(textOf(result.current[0] ?? message(0))).toBe("x ".repeat(50)));
  expect(drawn - before).toBeLessThanOrEqual(3);
});

it("leaves one stream in strict mode, and nothing once it is unmounted", async () => {
  const server = new Server();
  const added = vi.spyOn(window, "addEventListener");
  const removed = vi.spyOn(window, "removeEventListener");
  let store: Store | undefined;
  const All = () => ((store = useStore()), useMessages("shop"), useSpaces(), usePresence("shop"), useActiveRuns("shop"), <p>{useConnection().state}</p>);
  const { container, unmount } = render(<StrictMode><ShoalProvider client={server.shoal}><All /></ShoalProvider></StrictMode>);
  await waitFor(() => expect(container.textContent).toBe("live"));
  server.begin([message(1)]);
  await waitFor(() => expect(server.open).toBe(1));
  await waitFor(() => expect(store?.live.messages.size).toBe(1));
  expect(listeners(store as Store)).toBeGreaterThan(3);
  unmount();
  await waitFor(() => expect(server.open).toBe(0));
  expect(listeners(store as Store)).toBe(0);
  const named = (calls: readonly (readonly unknown[])[]) => calls.map(([name]) => name).filter((name) => ["online", "focus", "pageshow"].includes(name as string)).sort();
  expect(named(added.mock.calls)).toHaveLength(6);
  expect(named(removed.mock.calls)).toEqual(named(added.mock.calls));
});

it("starts over with another client", async () => {
  const [one, two] = [new Server(), new Server()];
  const Page = () => useMessages("shop").messages.map(textOf).join();
  const page = (server: Server) => <ShoalProvider client={server.shoal}><Page /></ShoalProvider>;
  const { container, rerender } = render(page(one));
  await waitFor(() => expect(one.open).toBe(1));
  one.begin([message(1)]);
  await waitFor(() => expect(container.textContent).toBe("message 1"));
  rerender(page(two));
  await waitFor(() => expect([one.open, two.open]).toEqual([0, 1]));
  expect(container.textContent).toBe("");
  two.begin([message(7)]);
  await waitFor(() => expect(container.textContent).toBe("message 7"));
});

it("says that the key is refused, and follows nothing then", async () => {
  const server = new Server();
  server.answer = () => Response.json({ code: "unauthenticated", detail: "The key is wrong." }, { status: 401 });
  const { result } = renderHook(useConnection, within(server));
  await waitFor(() => expect(result.current).toEqual({ state: "signed-out" }));
  expect(server.opened).toBe(0);
});

it("waits for a server that is away, and tries at once when the page is shown again", async () => {
  const server = new Server();
  server.answer = () => Promise.reject(new TypeError("fetch failed"));
  const { result } = renderHook(useConnection, within(server));
  await waitFor(() => expect(result.current.state).toBe("offline"));
  server.answer = () => undefined;
  window.dispatchEvent(new Event("focus"));
  await waitFor(() => expect(result.current.state).toBe("live"));
});

it("goes on after a cut with the same messages", async () => {
  const server = new Server();
  const { result } = await hook(server, () => ({ list: useMessages("shop").messages, connection: useConnection() }));
  await waitFor(() => expect(result.current.list).toHaveLength(1));
  const [first] = result.current.list;
  server.cut();
  await waitFor(() => expect(result.current.connection.state).toBe("offline"));
  await waitFor(() => expect(result.current.connection.state).toBe("live"));
  expect(server.calls.filter((c) => c.path.endsWith("/events")).map((c) => c.headers["Last-Event-ID"])).toEqual([undefined, "2"]);
  expect(result.current.list[0]).toBe(first);
});

it("loads older messages, and knows when there are no more", async () => {
  const server = new Server();
  const { result } = await hook(server, () => useMessages("shop"), [message(3)]);
  await waitFor(() => expect(result.current.hasOlder).toBe(true));
  server.lists = { messages: [message(1), message(2)] };
  let more: boolean | undefined;
  await act(async () => void (more = await result.current.loadOlder()));
  await waitFor(() => expect(result.current.messages.map((m) => m.seq)).toEqual([1, 2, 3]));
  expect([more, result.current.hasOlder, server.calls[server.calls.length - 1]?.path]).toEqual([false, false, "/v1/sessions/default/spaces/shop/messages?before=3&limit=50"]);
});

it("has a space with its unread counts, and marks it as read", async () => {
  const server = new Server();
  const { result } = await hook(server, () => useSpace("shop"), [message(1, { entityId: "bot" })]);
  await waitFor(() => expect(result.current.space?.name).toBe("Shopping"));
  server.emit({ type: "message.created", message: message(2, { entityId: "bot" }) });
  await waitFor(() => expect(result.current.space?.unreadCount).toBe(1));
  server.answer = ({ path }) => (path.endsWith("/read") ? Response.json({ ...result.current.space, unreadCount: 0, firstUnreadSeq: 0 }) : undefined);
  await act(() => result.current.markRead());
  expect(server.calls[server.calls.length - 1]).toMatchObject({ method: "POST", body: { seq: 2 } });
  await waitFor(() => expect(result.current.space?.unreadCount).toBe(0));
});

it("shows who is present", async () => {
  const server = new Server();
  server.lists = { entities: [entity("ann", "connected"), entity("bot", "offline"), entity("eve", "connected")] };
  const { result } = await hook(server, () => usePresence("shop"));
  await waitFor(() => expect(result.current.map((e) => `${e.id} ${e.state}`)).toEqual(["ann connected", "bot offline"]));
  const [ann] = result.current;
  server.emit({ type: "entity.updated", entity: entity("bot", "running"), spaceId: null });
  await waitFor(() => expect(result.current.map((e) => `${e.id} ${e.state}`)).toEqual(["ann connected", "bot running"]));
  expect(result.current[0]).toBe(ann);
});

it("follows a run and cancels it", async () => {
  const server = new Server();
  const { result } = await hook(server, () => ({ one: useRun("run_1"), here: useActiveRuns("shop"), elsewhere: useActiveRuns("other") }));
  server.emit({ type: "run.started", run: run("running") });
  await waitFor(() => expect(result.current.one.active).toBe(true));
  expect([result.current.here.length, result.current.elsewhere.length]).toEqual([1, 0]);
  server.answer = ({ path }) => (path.endsWith("/cancel") ? Response.json(run("canceled")) : undefined);
  await act(() => result.current.one.cancel());
  expect(server.calls[server.calls.length - 1]?.path).toBe("/v1/sessions/default/runs/run_1/cancel");
  server.emit({ type: "run.canceled", run: run("canceled") });
  await waitFor(() => expect([result.current.one.active, result.current.here.length]).toEqual([false, 0]));
});

it("explains itself outside of a provider", () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  expect(() => renderHook(() => useMessages("shop"))).toThrow("used outside of a ShoalProvider");
  expect(() => renderHook(() => useSession())).toThrow("used outside of a ShoalProvider");
});
