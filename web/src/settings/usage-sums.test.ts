// Sums of usage.
import { describe, expect, it } from "vitest";
import type { UsageRow } from "@shoal-dev/client";
import { costs, lastDays, perDay, roundUp, sums, totals } from "./usage-sums";

const row = (day: string, agentId: string, model: string, inputTokens: number, cost = 0, currency = "USD"): UsageRow => ({
  day, agentId, model, runId: "", calls: 1, inputTokens, cachedInputTokens: inputTokens / 2, outputTokens: 10, reasoningTokens: 0, cost, currency,
});
const rows = [row("2026-11-20", "a", "big", 100, 0.5), row("2026-11-20", "b", "big", 300, 0.25), row("2026-11-22", "a", "small", 50, 1, "EUR")];

describe("usage", () => {
  it("by agent: the highest first, without adding up currencies", () => {
    expect(sums(rows, "agent").map((s) => [s.name, s.currency, s.calls, s.input, s.cached, s.output, s.cost])).toEqual([
      ["b", "USD", 1, 300, 150, 10, 0.25],
      ["a", "USD", 1, 100, 50, 10, 0.5],
      ["a", "EUR", 1, 50, 25, 10, 1],
    ]);
  });
  it("by model", () => expect(sums(rows, "model").map((s) => [s.name, s.calls, s.input])).toEqual([["big", 2, 400], ["small", 1, 50]]));
  it("by day: the newest first", () => expect(sums(rows, "day").map((s) => s.name)).toEqual(["2026-11-22", "2026-11-20"]));
  it("in total, by currency", () => expect(totals(rows).map((s) => [s.currency, s.cost, s.calls])).toEqual([["USD", 0.75, 2], ["EUR", 1, 1]]));
  it("the cost per day: each currency alone, and none without a cost", () => {
    const free = row("2026-11-22", "a", "free", 10, 0, "GBP");
    const days = ["2026-11-20", "2026-11-21", "2026-11-22"];
    expect(costs([...rows, free], days).map((c) => [c.currency, c.days.map((d) => d.cost)])).toEqual([["USD", [0.75, 0, 0]], ["EUR", [0, 0, 1]]]);
    expect(costs([free], days)).toEqual([]);
  });
  it("the days of a chart are complete, also across the end of a month", () => {
    const days = lastDays(Date.parse("2026-12-01T00:30:00Z"), 3);
    expect(days).toEqual(["2026-11-29", "2026-11-30", "2026-12-01"]);
    expect(perDay(rows, ["2026-11-20", "2026-11-21", "2026-11-22"]).map((s) => s.input)).toEqual([400, 0, 50]);
  });
});

it("the top of an axis is the next round number", () => {
  expect([0, 1, 3, 45, 100, 2196, 8001].map(roundUp)).toEqual([1, 1, 4, 60, 100, 4000, 10_000]);
  expect([0.02, 0.021, 0.3, 0.55, 0.0009].map(roundUp)).toEqual([0.02, 0.04, 0.4, 0.6, 0.001]);
});
