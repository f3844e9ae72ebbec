// Tabs that join, are suspended and leave, over a server that does not respond.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Transport } from "@shoal-dev/client";
import { Switchboard, type TabUpdate } from "./switchboard";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const unresponsive: Transport = (_, { signal }) => new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("aborted"))));
const topic = { session: "default", entity: "ann" };
const older = { kind: "apply", topic, events: [{ type: "local.older", spaceId: "shop", messages: [] }] } as const;

function tab(board: Switchboard) {
  const received: TabUpdate[] = [];
  const post = (u: TabUpdate) => void received.push(u);
  return { received, send: (request: Parameters<Switchboard["handle"]>[1]) => board.handle(post, request) };
}

it("joins a tab again that was dropped while it was suspended", () => {
  const board = new Switchboard(unresponsive);
  const suspended = tab(board);
  const other = tab(board);
  suspended.send({ kind: "join", topic });
  other.send({ kind: "join", topic });
  vi.advanceTimersByTime(140_000);
  other.send({ kind: "alive", topics: [topic] });
  vi.advanceTimersByTime(140_000);
  board.sweep();
  const before = suspended.received.length;
  other.send(older);
  expect(suspended.received.length).toBe(before);

  suspended.send({ kind: "alive", topics: [topic] });
  expect(suspended.received.slice(before).map((u) => u.update.kind)).toEqual(["state"]);
  other.send(older);
  expect(suspended.received.slice(before).map((u) => u.update.kind)).toEqual(["state", "events"]);
  for (const t of [suspended, other]) t.send({ kind: "bye" });
});

it("does not send the state again to a tab that is alive", () => {
  const board = new Switchboard(unresponsive);
  const one = tab(board);
  one.send({ kind: "join", topic });
  one.send({ kind: "alive", topics: [topic] });
  expect(one.received.filter((u) => u.update.kind === "state").length).toBe(1);
  one.send({ kind: "bye" });
});
