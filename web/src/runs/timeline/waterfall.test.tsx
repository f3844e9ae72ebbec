// The waterfall as it is read without seeing its bars, and as it is used by keyboard.
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";
import { LiveContext } from "@/live/hooks";
import { Store } from "@shoal-dev/client/live";
import { aCall, aPending, aRun, aStep, at } from "../testing";
import { axisOf } from "./axis";
import { narrowed } from "./timeline-tab";
import { spansOf } from "./spans";
import { Waterfall } from "./waterfall";

afterEach(cleanup);

const run = aRun({ startedAt: at(10) });
const usage = { inputTokens: 4100, cachedInputTokens: 3072, outputTokens: 220, reasoningTokens: 0, cost: 0.004, currency: "USD" };
const steps = [
  aStep({
    startedAt: at(10), endedAt: at(5000), firstTokenMs: 30, usage,
    toolCalls: [aCall({ toolCallId: "a", startedAt: at(900), endedAt: at(950) }), aCall({ toolCallId: "b", toolName: "charge", status: "denied" }), aCall({ toolCallId: "c", toolName: "book", status: "failed", startedAt: at(950), endedAt: at(960) })],
  }),
];
const pending = [aPending({ kind: "permission", toolCallId: "b", toolName: "charge", status: "answered", createdAt: at(1000), answeredAt: at(4900), answeredBy: "ann", decision: { approved: false, by: "ann", reason: null, ask: null } })];
const spans = spansOf(run, steps, pending);
const now = Date.parse(at(5000));

function show(onSelect?: (id: string) => void) {
  const store = new Store({ session: "default", entity: "ann" }, () => undefined);
  store.live.apply({ type: "local.loaded", entities: [{ id: "ann", sessionId: "default", kind: "human", sessionRole: "member", ownerId: null, hosted: false, name: "Ann", description: "", externalId: null, state: "connected", waitEndsAt: null, lastSeenAt: null, lastFailure: null, stalledSince: null, wake: null, metadata: {}, createdAt: at(0) }], pending: [], runs: [] });
  render(
    <LiveContext value={store}>
      <Waterfall spans={spans} axis={axisOf(spans, Date.parse(at(0)), now)} now={now} label="Timeline" onSelect={onSelect} />
    </LiveContext>,
  );
  return within(screen.getByRole("table", { name: "Timeline" }));
}

test("is a table with kind, name, facts and duration of each row", () => {
  const table = show();
  const text = table.getAllByRole("row").slice(1).map((r) => [...r.children].slice(0, 3).map((c) => c.textContent).join(" | "));
  expect(text).toEqual([
    "Queue: Queue |  | 10 ms",
    "Step: Step 1 | 3 tool calls, 1 failed | 5.0 s",
    "Model call: gpt | 4.1K in (3.1K cached) · 220 out · first token 30 ms · $0.004 | 890 ms",
    "Tool: look | done | 50 ms",
    "Wait: charge, permission | Ann denied | 3.9 s",
    "Tool: book | failed | 10 ms",
  ]);
});

test("a row is selected by its button, once", async () => {
  const onSelect = vi.fn();
  const table = show(onSelect);
  await userEvent.tab();
  await userEvent.tab();
  await userEvent.keyboard("{Enter}");
  expect(onSelect.mock.calls).toEqual([["0"]]);
  await userEvent.click(table.getByRole("button", { name: /charge/ }));
  expect(onSelect.mock.calls).toEqual([["0"], ["0.b.wait.pnd_1"]]);
});

test("filters keep the step of what they keep", () => {
  expect(narrowed(spans, { failed: true }).map((s) => s.name)).toEqual(["Step 1", "book"]);
  expect(narrowed(spans, { kind: "wait" }).map((s) => s.name)).toEqual(["Step 1", "charge, permission"]);
  expect(narrowed(spans, { step: 7 })).toEqual([]);
});
