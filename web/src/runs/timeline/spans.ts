// What took how long in a run: its steps, calls and waits as spans of time. Pure.
//
// The server says when a step began and ended, when it executed a call, and when a
// pending action was opened and answered. When the model had finished writing
// follows from the first of those; where none of them is known the span is marked
// as an estimate.
import type { PendingAction, Run, Step, StepCall } from "@shoal-dev/client";
import { callFailed, callWord } from "../words";

export type SpanKind = "queue" | "step" | "model" | "tool" | "wait";

/** One row of the timeline. */
export interface Span {
  /** Stable while the run goes on: "queue", "0", "0.model", "0.CALL", "0.CALL.wait". */
  readonly id: string;
  readonly kind: SpanKind;
  /** The index of its step; null outside of steps. */
  readonly step: number | null;
  readonly name: string;
  /** In ms; null when it never began, or nobody knows when. */
  readonly from: number | null;
  /** In ms; null while it goes on. */
  readonly to: number | null;
  /** One of the two times is an estimate. */
  readonly about: boolean;
  readonly failed: boolean;
  /** How it stands, in words. */
  readonly note: string;
  readonly model?: Step;
  readonly call?: StepCall;
  readonly pending?: PendingAction;
}

const ms = (at: string | null): number | null => (at === null ? null : Date.parse(at));

/** All spans of a run, in the order in which they are shown: each step before what is in it. */
export function spansOf(run: Run, steps: readonly Step[], pending: readonly PendingAction[]): Span[] {
  const created = Date.parse(run.createdAt);
  const started = ms(run.startedAt) ?? ms(run.endedAt);
  const spans: Span[] = [{ id: "queue", kind: "queue", step: null, name: "Queue", from: created, to: started, about: false, failed: false, note: started === null ? "waits for its turn" : "" }];
  const placed = new Set<string>();
  for (const step of steps) {
    const mine = pending.filter((p) => within(p, step) && step.toolCalls.some((c) => c.toolCallId === p.toolCallId));
    for (const p of mine) placed.add(p.id);
    spans.push(...stepSpans(run, step, mine));
  }
  // Without steps (an entity sees none), or for a question of the server itself.
  for (const p of pending) {
    if (!placed.has(p.id)) spans.push(waitSpan(p, null));
  }
  return spans;
}

// Models use the ids of calls again, in another step.
function within(p: PendingAction, step: Step): boolean {
  return p.createdAt >= step.startedAt && (step.endedAt === null || p.createdAt <= step.endedAt);
}

function stepSpans(run: Run, step: Step, pending: readonly PendingAction[]): Span[] {
  const from = Date.parse(step.startedAt);
  // A run that has ended leaves no step open, whatever is stored of it.
  const to = ms(step.endedAt) ?? ms(run.endedAt);
  const suspended = run.status === "waiting_reply" || run.status === "waiting_tool";
  const written = writtenAt(step, pending, to, suspended);
  const calls = step.toolCalls.flatMap((c) => callSpans(step, c, pending, written, to, suspended));
  const failed = calls.some((c) => c.failed) || brokenOff(step);
  return [
    { id: `${step.index}`, kind: "step", step: step.index, name: `Step ${step.index + 1}`, from, to, about: false, failed, note: "", model: step },
    { id: `${step.index}.model`, kind: "model", step: step.index, name: step.model, from, to: written.at, about: written.about, failed: brokenOff(step), note: finish(step), model: step },
    ...calls,
  ];
}

// When the model had written its answer: before the first thing that came of it.
function writtenAt(step: Step, pending: readonly PendingAction[], end: number | null, suspended: boolean): { at: number | null; about: boolean } {
  const began = [...step.toolCalls.map((c) => ms(c.startedAt)), ...pending.map((p) => Date.parse(p.createdAt))].filter((t) => t !== null);
  if (began.length > 0) return { at: Math.min(...began), about: false };
  if (!step.toolCalls.some((c) => waitedUntimed(c, suspended))) return { at: end, about: false };
  return { at: Date.parse(step.startedAt) + (step.firstTokenMs ?? 0), about: true };
}

function callSpans(step: Step, call: StepCall, pending: readonly PendingAction[], written: { at: number | null; about: boolean }, end: number | null, suspended: boolean): Span[] {
  const id = `${step.index}.${call.toolCallId}`;
  const base = { step: step.index, name: call.toolName, call, failed: callFailed(call.status), note: callWord(call.status) };
  const waits = pending.filter((p) => p.toolCallId === call.toolCallId).map((p) => waitSpan(p, step.index, call));
  // What somebody outside answers is that wait; a permission comes before its call.
  if (waits.some((w) => w.pending?.kind !== "permission")) return waits;
  if (call.startedAt !== null) {
    const own: Span = { ...base, id, kind: forReply(call) ? "wait" : "tool", from: ms(call.startedAt), to: ms(call.endedAt) ?? end, about: false };
    return [...waits, forReply(call) ? { ...own, note: ownWait(call) } : own];
  }
  if (waits.length > 0) return waits;
  const held = pending.some((p) => p.kind === "permission" && p.status === "open" && within(p, step));
  if (waitedUntimed(call, suspended) && written.at !== null)
    return [{ ...base, id, kind: "wait", from: written.at, to: end, about: true, note: ownWait(call, held) }];
  return [{ ...base, id, kind: "tool", from: null, to: null, about: false }];
}

// Of some runs there are no times of what they waited for by themselves: a reply, an hour.
function waitedUntimed(call: StepCall, suspended: boolean): boolean {
  return call.startedAt === null && (call.status === "ok" || call.status === "timed_out" || (call.status === "pending" && suspended));
}

function forReply(call: StepCall): boolean {
  return typeof call.args === "object" && call.args !== null && "wait" in call.args;
}

function ownWait(call: StepCall, held = false): string {
  const reply = forReply(call);
  // All permissions of a step are asked for before any of its tools starts.
  if (call.status === "pending") return held ? "begins when the permission is decided" : reply ? "waits for a reply" : "is under way";
  return reply ? `waited for a reply: ${callWord(call.status)}` : callWord(call.status);
}

function waitSpan(p: PendingAction, step: number | null, call?: StepCall): Span {
  const to = ms(p.answeredAt) ?? (p.status === "expired" ? ms(p.expiresAt) : null);
  const over = p.status !== "open" && to === null;
  return {
    id: `${step ?? "run"}.${p.toolCallId}.wait.${p.id}`, kind: "wait", step, name: p.kind === "permission" && p.toolName !== "" ? `${p.toolName}, permission` : p.toolName, from: Date.parse(p.createdAt), to: over ? Date.parse(p.createdAt) : to, about: over,
    failed: p.status === "expired", note: "", pending: p, call,
  };
}

function brokenOff(step: Step): boolean {
  return ["error", "length", "content_filter"].includes(step.finishReason);
}

const finishes: Record<string, string> = {
  length: "cut off at its longest answer",
  content_filter: "held back by the provider",
  error: "failed",
  paused: "paused by the provider, and continued",
};

function finish(step: Step): string {
  return finishes[step.finishReason] ?? "";
}
