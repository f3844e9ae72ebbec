// The waits between the participants of a session.
import type { Entity, PendingAction, Run, Space } from "@shoal-dev/client";
import { label } from "@/parts/renderers/words";
import { awaitedReply } from "@/runs/reply";

/** One wait. */
export interface Wait {
  /** Stable while the wait lasts. */
  readonly id: string;
  /** The entity that waits. */
  readonly who: string;
  /** What it waits for, as in "waits for …". */
  readonly what: string;
  /** The name of the space in which it waits; null if none is known. */
  readonly where: string | null;
  /** Who can end the wait, as ids; empty for anybody. */
  readonly whom: readonly string[];
  /** When the wait expires; null for never. */
  readonly endsAt: string | null;
  readonly since: string | null;
  /** The run that waits; null for a connected agent. */
  readonly run: string | null;
  /** The number of equal waits. */
  readonly times: number;
}

/** The known state of a session. */
export interface Known {
  readonly entities: readonly Entity[];
  readonly runs: readonly Run[];
  readonly pending: readonly PendingAction[];
  readonly spaces: readonly Space[];
}

const kinds: Record<PendingAction["kind"], (p: PendingAction) => string> = {
  client_tool: (p) => `the result of ${label(p.toolName)}`,
  permission: (p) => `permission for ${label(p.toolName)}`,
  question: () => "the answer to a question",
};

/** The waits of a session: first the open waits of connected agents, then those of runs. */
export function waits({ entities, runs, pending, spaces }: Known): Wait[] {
  const out: Wait[] = [];
  for (const e of entities) {
    if (e.state === "waiting") out.push({ id: `entity:${e.id}`, who: e.id, what: "a mention", where: null, whom: [], endsAt: e.waitEndsAt, since: null, run: null, times: 1 });
  }
  for (const p of pending) {
    if (p.status !== "open") continue;
    const space = spaces.find((s) => s.id === p.spaceId);
    const people = (space?.members ?? []).filter((m) => m.kind === "human").map((m) => m.entityId);
    out.push({ id: p.id, who: p.agentId, what: kinds[p.kind](p), where: space?.name ?? null, whom: people, endsAt: p.expiresAt, since: p.createdAt, run: p.runId, times: 1 });
  }
  for (const r of runs) {
    if (r.status !== "waiting_reply") continue;
    const named = (id: string): string => entities.find((e) => e.id === id)?.name ?? id;
    out.push({ id: r.id, who: r.agentId, what: awaitedReply(r, named), where: null, whom: [], endsAt: r.waitingFor?.until ?? null, since: null, run: r.id, times: 1 });
  }
  return together(out);
}

// A step may request several results of one tool: they are one line.
function together(all: readonly Wait[]): Wait[] {
  const out = new Map<string, Wait>();
  for (const w of all) {
    const key = JSON.stringify([w.who, w.what, w.where, w.run]);
    const first = out.get(key);
    out.set(key, first === undefined ? w : { ...first, times: first.times + 1 });
  }
  return [...out.values()];
}
