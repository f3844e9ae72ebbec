import { cleanup } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import type { Entity } from "@shoal-dev/client";
import { show } from "@/space/testworld";
import { WakeNote } from "./wake-note";

afterEach(cleanup);

const at = "2026-11-20T10:00:00.000Z";
const wake = (change: Partial<NonNullable<Entity["wake"]>>) => ({
  state: "wakeable" as const, via: null, harness: null, runner: null, since: null, until: null, lastSeenAt: null, reason: "", text: "will be started", proof: null, ...change,
});

it.each<[string, Entity["wake"], RegExp]>([
  ["a human", null, /^$/],
  ["an agent that the server runs", wake({ via: "hosted" }), /^$/],
  ["an agent with a lease", wake({ via: "runner", since: at, text: "will be woken (runner ada-mbp)" }), /^will be woken \(runner ada-mbp\)$/],
  ["a remote agent without a program", wake({ state: "asleep", via: "program", text: "no program is connected for @bot" }), /^no program is connected for @bot$/],
  ["what hinders it", wake({ reason: "its key has expired" }), /^its key has expired$/],
  ["a test that was answered", wake({ proof: { at, answered: true, ms: 340, steps: [{ step: "answered", ms: 340 }] } }), /^answered a wake test after 340 ms, .*\d/],
  ["a test that was not", wake({ proof: { at, answered: false, ms: 60000, steps: [] } }), /^did not answer a wake test, .*\d/],
])("of %s", async (_, of, words) => {
  const world = await show(<WakeNote wake={of} />, []);
  expect(world.container.textContent).toMatch(words);
});
