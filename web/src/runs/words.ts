// Numbers and errors of runs in words for people.
import type { Run } from "@shoal-dev/client";

const grouped = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

/** A number of tokens, short: 812, 4.1K, 1.2M. */
export function tokens(n: number): string {
  return n < 1000 ? String(n) : short.format(n);
}

/** A number of tokens, whole: 4,100. */
export function allTokens(n: number): string {
  return grouped.format(n);
}

/**
 * What something cost. Zero is what the server says where it knows no price of the
 * model, so it is never shown as "free".
 */
export function money(cost: number, currency: string): string {
  if (cost === 0) return "price unknown";
  const digits = cost < 0.01 ? 4 : cost < 1 ? 3 : 2;
  return new Intl.NumberFormat(undefined, { style: "currency", currency, minimumFractionDigits: 2, maximumFractionDigits: digits }).format(cost);
}

/** The same for a narrow column: a dash where no price is known. */
export function shortMoney(cost: number, currency: string): string {
  return cost === 0 ? "–" : money(cost, currency);
}

/** How long a run has gone on, or went on; null before its beginning. */
export function elapsed(run: Run, now: number): number | null {
  if (run.startedAt === null) return null;
  return (run.endedAt === null ? now : Date.parse(run.endedAt)) - Date.parse(run.startedAt);
}

// The codes of contract section 4: what happened, and what to do about it.
const errors: Record<string, readonly [happened: string, todo: string]> = {
  provider_auth: ["The model's provider rejected the key, or no key is set.", "Set the provider's key in the server's environment, restart the server, then retry."],
  provider_rate_limited: ["The model's provider rejected the call because of its rate limit.", "Wait a moment, then retry. If this happens often, ask the provider for a higher limit."],
  provider_unavailable: ["The model's provider did not respond or returned a server error.", "Retry in a moment. If the error persists, check the agent's baseURL."],
  context_overflow: ["The conversation exceeds the model's context window.", "Lower context.history, or choose a reduction strategy in the agent's configuration; then retry."],
  content_filtered: ["The provider's content filter blocked the answer.", "Rephrase the message or change the agent's instructions. The same input will likely be blocked again."],
  max_steps: ["The run reached its maximum number of steps.", "Raise loop.maxSteps, allow continuation, or give the agent a smaller task."],
  max_errors: ["Too many tool calls failed one after another.", "Check the failed calls under Errors, fix the tool or its description, then retry."],
  identical_calls: ["The model repeated the same call too often.", "State in the agent's instructions when to stop, or have the tool's result say what changed."],
  timeout: ["The run exceeded its time limit. Waiting for people does not count.", "Check the timeline for slow steps. Raise loop.runTimeoutMs if the run needs more time."],
  budget_exhausted: ["The agent's token or cost budget is used up.", "Raise the budget in the agent's configuration. A daily budget resets tomorrow."],
  storage: ["The server could not save the run.", "Check the server's disk and database, then retry."],
  canceled: ["Someone stopped the run, or its work was delegated to another agent.", "No action is needed. Retry starts it again."],
  internal: ["The server or the agent's configuration caused an error.", "Check the message and the server's log. If it happens again, report it."],
};

/** What the error of a run means and what to do, by its code. */
export function errorHelp(code: string): { happened: string; todo: string } {
  const [happened, todo] = errors[code] ?? ["The run ended with an error unknown to this console.", "Read the message below."];
  return { happened, todo };
}

const results: Record<string, string> = {
  pending: "not answered yet",
  ok: "done",
  failed: "failed",
  invalid: "the arguments do not match the tool's schema",
  unknown: "unknown tool",
  denied: "denied",
  timed_out: "took too long",
  canceled: "canceled",
  skipped: "skipped: the run ended first",
  interrupted: "interrupted, its effect is unknown",
  repeated: "refused: the same call had the same result before",
};

/** The status of a tool call of a step in words. */
export function callWord(status: string): string {
  return results[status] ?? status;
}

/** Whether a tool call went wrong. A denial is an answer, and what was stopped did not fail. */
export function callFailed(status: string): boolean {
  return !["ok", "pending", "denied", "canceled", "skipped"].includes(status);
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

/** A time of the day to the millisecond. */
export const exactTime = (at: number): string => clock.formatToParts(at).map((p) => (p.type === "second" ? `${p.value}.${String(at % 1000).padStart(3, "0")}` : p.value)).join("");
