// The log of a run. The server does not keep events forever, but it keeps the records
// that they changed. Entries from before the page was opened are derived from these
// records; later entries are live events. Pure, except for the hook at the end.
import { useEffect, useRef, useState } from "react";
import type { LiveEvent } from "@shoal-dev/client";
import type { Store } from "@shoal-dev/client/live";
import { type RunRecord, throttle } from "./record";

/** One line of the log. */
export interface Entry {
  readonly key: string;
  /** In ms. */
  readonly at: number;
  readonly type: string;
  /** One line of words. */
  readonly about: string;
  /** The event as it came, or the stored thing. */
  readonly value: unknown;
  /** True for an event of the stream, false for an entry derived from stored records. */
  readonly live: boolean;
}

/** How many events of one page are kept; the oldest go first. */
export const keptEvents = 5000;

/** The entries up to now, derived from stored records, in order. */
export function storedEntries({ run, steps, messages, pending }: RunRecord): Entry[] {
  const out: Entry[] = [];
  const add = (at: string | null | undefined, type: string, id: string, about: string, value: unknown) => {
    if (at != null) out.push({ key: `${type} ${id}`, at: Date.parse(at), type, about, value, live: false });
  };
  add(run.createdAt, "run.created", run.id, run.agentId, run);
  add(run.startedAt, "run.started", run.id, run.agentId, run);
  for (const s of steps ?? []) {
    add(s.startedAt, "step.started", `${s.index}`, `step ${s.index + 1}, ${s.model}`, s);
    for (const c of s.toolCalls) {
      add(c.startedAt, "tool.started", `${s.index}.${c.toolCallId}`, c.toolName, c);
      add(c.endedAt, "tool.ended", `${s.index}.${c.toolCallId}`, `${c.toolName}: ${c.status}`, c);
    }
    add(s.endedAt, "step.completed", `${s.index}`, `step ${s.index + 1}, ${s.finishReason}`, s);
  }
  for (const p of pending) {
    add(p.createdAt, "pending.opened", p.id, `${p.toolName}: ${p.kind}`, p);
    if (p.status !== "open") add(p.answeredAt ?? p.expiresAt ?? run.endedAt, "pending.settled", p.id, `${p.toolName}: ${p.status}`, p);
  }
  for (const m of messages) {
    add(m.createdAt, "message.created", m.id, `in ${m.spaceId}`, m);
    if (m.status !== "streaming") add(m.updatedAt, "message.completed", m.id, `${m.status}, ${m.parts.length} parts`, m);
  }
  add(run.endedAt, `run.${run.status}`, run.id, run.error?.message ?? run.agentId, run);
  return out.sort((a, b) => a.at - b.at);
}

/** The log whole: what is stored from before the first event that came, then those that came. */
export function journal(stored: readonly Entry[], came: readonly Entry[]): Entry[] {
  const first = came[0]?.at ?? Infinity;
  return [...stored.filter((e) => e.at < first), ...came];
}

/** One event as a line of the log. */
export function entryOf(event: LiveEvent, number: number): Entry {
  const at = "at" in event && typeof event.at === "string" ? Date.parse(event.at) : Date.now();
  return { key: `live ${number}`, at, type: event.type, about: aboutOf(event), value: event, live: true };
}

function aboutOf(event: LiveEvent): string {
  if ("delta" in event) return `${JSON.stringify(event.delta)} at ${event.offset}`;
  if ("toolName" in event && typeof event.toolName === "string") return event.toolName;
  if ("pendingAction" in event) return `${event.pendingAction.toolName}: ${event.pendingAction.status}`;
  if ("step" in event) return `step ${event.step.index + 1}`;
  if ("message" in event) return `${event.message.status}, in ${event.message.spaceId}`;
  if ("run" in event) return event.run.status;
  if ("partId" in event) return event.partId;
  return "";
}

/** Whether an event is a delta of streaming text. */
export function isDelta(type: string): boolean {
  return type.endsWith("-delta");
}

/** The events of a store since this page opened it, updated at most four times a second. */
export function useCame(store: Store | null): readonly Entry[] {
  const kept = useRef<Entry[]>([]);
  const [came, setCame] = useState<readonly Entry[]>([]);
  useEffect(() => {
    if (store === null) return undefined;
    let number = 0;
    kept.current = [];
    const soon = throttle(250, () => setCame([...kept.current]));
    const stop = store.tap((event) => {
      if (event.type === "snapshot" || event.type.startsWith("local.")) return; // what is stored, and what the server has not sent
      kept.current.push(entryOf(event, number++));
      if (kept.current.length > keptEvents) kept.current.splice(0, kept.current.length - keptEvents);
      soon.call();
    });
    return () => {
      stop();
      soon.stop();
    };
  }, [store]);
  return came;
}

/** The run as lines for a file: each says what it is. */
export function exportLines(record: RunRecord, log: readonly Entry[]): unknown[] {
  return [
    { type: "run", run: record.run },
    ...(record.steps ?? []).map((step) => ({ type: "step", step })),
    ...record.messages.map((message) => ({ type: "message", message })),
    ...record.pending.map((pendingAction) => ({ type: "pendingAction", pendingAction })),
    ...log.map((e) => ({ type: "event", at: new Date(e.at).toISOString(), event: e.live ? e.value : { type: e.type, about: e.about }, stored: !e.live })),
  ];
}
