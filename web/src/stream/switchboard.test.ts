// Tabs that join, sleep and go, over a stream that does not answer.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type Answer, Switchboard } from "./switchboard";

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", (_: string, init?: RequestInit) => new Promise((_, refuse) => init?.signal?.addEventListener("abort", () => refuse(new Error("cut")))));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const topic = { session: "default", entity: "ann" };
const older = { kind: "apply", topic, events: [{ type: "console.older", spaceId: "shop", messages: [] }] } as const;

function tab(board: Switchboard) {
  const heard: Answer[] = [];
  const post = (a: Answer) => void heard.push(a);
  return { heard, ask: (asked: Parameters<Switchboard["handle"]>[1]) => board.handle(post, asked) };
}

it("a tab that slept so long that it was taken for gone hears again once it is back", () => {
  const board = new Switchboard();
  const sleeper = tab(board);
  const other = tab(board);
  sleeper.ask({ kind: "join", topic });
  other.ask({ kind: "join", topic });
  vi.advanceTimersByTime(140_000);
  other.ask({ kind: "here", topics: [topic] });
  vi.advanceTimersByTime(140_000);
  board.sweep();
  const before = sleeper.heard.length;
  other.ask(older);
  expect(sleeper.heard.length).toBe(before);

  sleeper.ask({ kind: "here", topics: [topic] });
  expect(sleeper.heard.slice(before).map((a) => a.told.kind)).toEqual(["state"]);
  other.ask(older);
  expect(sleeper.heard.slice(before).map((a) => a.told.kind)).toEqual(["state", "events"]);
  for (const t of [sleeper, other]) t.ask({ kind: "bye" });
});

it("a tab that says it is there is not told its state again", () => {
  const board = new Switchboard();
  const one = tab(board);
  one.ask({ kind: "join", topic });
  one.ask({ kind: "here", topics: [topic] });
  expect(one.heard.filter((a) => a.told.kind === "state").length).toBe(1);
  one.ask({ kind: "bye" });
});
