// Sums of usage, by group and by day.
import type { UsageRow } from "@shoal-dev/client";

/** The groups of the sums. */
export type Group = "agent" | "model" | "day";

/** The usage of a group of model calls. `tokens` are input and output together. */
export interface Sum {
  readonly name: string;
  readonly calls: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly cost: number;
  readonly currency: string;
}

const nameOf = (row: UsageRow, by: Group): string => (by === "agent" ? row.agentId : by === "model" ? row.model : row.day);

function add(sum: Sum, row: UsageRow): Sum {
  return {
    ...sum,
    calls: sum.calls + row.calls,
    input: sum.input + row.inputTokens,
    cached: sum.cached + row.cachedInputTokens,
    output: sum.output + row.outputTokens,
    cost: sum.cost + row.cost,
  };
}

const none = (name: string, currency: string): Sum => ({ name, calls: 0, input: 0, cached: 0, output: 0, cost: 0, currency });

/**
 * Sums the rows by a group: one sum for each name and currency. Days are sorted newest
 * first, the others by tokens, the most first.
 */
export function sums(rows: readonly UsageRow[], by: Group): Sum[] {
  const found = new Map<string, Sum>();
  for (const row of rows) {
    const name = nameOf(row, by);
    const key = JSON.stringify([name, row.currency]);
    found.set(key, add(found.get(key) ?? none(name, row.currency), row));
  }
  return [...found.values()].sort((a, b) => (by === "day" ? b.name.localeCompare(a.name) : b.input + b.output - a.input - a.output));
}

/** The total for each currency. */
export function totals(rows: readonly UsageRow[]): Sum[] {
  const found = new Map<string, Sum>();
  for (const row of rows) found.set(row.currency, add(found.get(row.currency) ?? none("all", row.currency), row));
  return [...found.values()];
}

/** The last `count` days in UTC up to `today` (ms), the oldest first, as 2026-11-20. */
export function lastDays(today: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => new Date(today - (count - 1 - i) * 86_400_000).toISOString().slice(0, 10));
}

/** The usage of each day; zeros for a day without calls. */
export function perDay(rows: readonly UsageRow[], days: readonly string[]): Sum[] {
  const byDay = new Map<string, Sum>();
  for (const row of rows) byDay.set(row.day, add(byDay.get(row.day) ?? none(row.day, row.currency), row));
  return days.map((day) => byDay.get(day) ?? none(day, ""));
}

/** The usage of each day in each currency in which something has cost anything. */
export function costs(rows: readonly UsageRow[], days: readonly string[]): { readonly currency: string; readonly days: readonly Sum[] }[] {
  const currencies = totals(rows).filter((t) => t.cost > 0);
  return currencies.map(({ currency }) => ({ currency, days: perDay(rows.filter((r) => r.currency === currency), days) }));
}

/** The top of an axis for `n`: a digit and zeros, of which the half is round, too. 1 for 0. */
export function roundUp(n: number): number {
  const power = n > 0 ? Math.floor(Math.log10(n)) : 0;
  const digit = [1, 2, 4, 6, 8].find((f) => scaled(f, power) >= n) ?? 10;
  return scaled(digit, power);
}

// Powers below 0 divide, which keeps 0.6 from becoming 0.6000000000000001.
const scaled = (digit: number, power: number): number => (power < 0 ? digit / 10 ** -power : digit * 10 ** power);
