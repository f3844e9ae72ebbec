import { expect, it } from "vitest";
import { stateOf } from "./at-work";
import { run } from "./testdata";

it.each([
  ["is at work", run()],
  ["gives no sign of life", run({ stalledSince: "2026-11-20T10:00:00.000Z" })],
  ["is about to begin", run({ status: "queued" })],
  ["waits for a program that serves it", run({ status: "queued", waitingForProgram: true })],
  ["takes the next message when it is done", run({ status: "queued", queuedBehind: "run_0" })],
])("a run %s", (words, shown) => {
  expect(stateOf(shown)).toBe(words);
});
