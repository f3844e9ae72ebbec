// Numbers and errors of runs in words for people.
import type { Run } from "@/client/types";

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
  if (cost === 0) return "price not known";
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
  provider_auth: ["The model's provider refused the key, or there is none.", "Set the provider's key in the server's environment, start the server again, then retry."],
  provider_rate_limited: ["The model's provider refused further calls for now.", "Wait a little, then retry. If it happens often, ask the provider for a higher limit."],
  provider_unavailable: ["The model's provider did not answer, or answered with a failure of its own.", "Retry in a moment. Check the agent's baseURL if it never works."],
  context_overflow: ["The conversation does not fit into the model's context.", "Lower context.history, or choose a reduction strategy in the agent's configuration; then retry."],
  content_filtered: ["The model's provider held the answer back by its content rules.", "Say it in other words, or change the agent's instructions. The same input will most likely be filtered again."],
  max_steps: ["The run used all of its steps before it was done.", "Raise loop.maxSteps, allow continuation, or give the agent a smaller task."],
  max_errors: ["Too many tool calls failed one after another.", "Look at the failed calls under Errors; mend the tool or its description, then retry."],
  identical_calls: ["The model made the same call again and again.", "Tell it in its instructions when to stop, or make the tool's result say what is new."],
  timeout: ["The run took longer than it may; waiting for people does not count.", "Look in the timeline at what took so long. Raise loop.runTimeoutMs if that is all right."],
  budget_exhausted: ["The agent's budget of tokens or money is used up.", "Raise the budget in the agent's configuration, or wait until tomorrow for a budget of the day."],
  storage: ["The server could not store what the run did.", "Check the disk and the database of the server, then retry."],
  canceled: ["Somebody stopped the run, or its work was handed over.", "Nothing needs to be done. Retry starts it anew."],
  internal: ["Something in the server or in the agent's configuration failed.", "Look at the message and the server's log; if it happens again, report it."],
};

/** What the error of a run means and what to do, by its code. */
export function errorHelp(code: string): { happened: string; todo: string } {
  const [happened, todo] = errors[code] ?? ["The run ended with an error that this console does not know.", "Read the message below it."];
  return { happened, todo };
}

const results: Record<string, string> = {
  pending: "not answered yet",
  ok: "done",
  failed: "failed",
  invalid: "the arguments do not fit the tool's schema",
  unknown: "there is no tool of that name",
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
