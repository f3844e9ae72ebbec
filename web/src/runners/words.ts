// What a runner says of an agent, in words.
import type { RunnerAgent } from "./queries";

type Report = RunnerAgent["report"];

const modes: Record<string, string> = {
  read: "reads only",
  ask: "asks before it changes or executes anything",
  edit: "changes files, and asks before it executes anything",
};

/** What the agent may do without a question. */
export const modeWords = (mode: string): string => modes[mode] ?? mode;

/** Whose mentions or approvals count. */
export function audience(ids: readonly string[]): string {
  return ids.map((id) => (id === "owner" ? "its owner" : id === "members" ? "everybody in its spaces" : `@${id}`)).join(", ");
}

/** How much it may use; empty without a bound. */
export function limits({ maxTurnsPerHour, maxTokensPerDay, maxCostPerDay }: Report): string {
  const number = new Intl.NumberFormat();
  const all = [];
  if (maxTurnsPerHour > 0) all.push(`${number.format(maxTurnsPerHour)} turns an hour`);
  if (maxTokensPerDay > 0) all.push(`${number.format(maxTokensPerDay)} tokens a day`);
  if (maxCostPerDay > 0) all.push(`${new Intl.NumberFormat(undefined, { style: "currency", currency: "USD" }).format(maxCostPerDay)} a day`);
  return all.join(", ");
}
