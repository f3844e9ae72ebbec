// Which pending actions are whose, and in which order. Pure.
import type { PendingAction, Space } from "@/client/types";

/**
 * Whether it waits for whoever acts. The server lists for an entity what it may
 * answer (`answerable`: the ids; undefined where it lists everything); an admin who
 * acts as an entity answers in that entity's spaces; one who acts as nobody may
 * answer all that one answer settles.
 */
export function isMine(p: PendingAction, actor: string | null, spaces: readonly Space[], answerable: ReadonlySet<string> | undefined): boolean {
  if (answerable !== undefined) return answerable.has(p.id);
  if (actor === null) return p.quorum < 2;
  if (p.notRequester && p.requesters.includes(actor)) return false;
  if (p.kind === "permission" && p.by === null && p.requesters.includes(actor)) return true;
  return p.agentId !== actor && spaces.some((s) => s.id === p.spaceId && s.members.some((m) => m.entityId === actor));
}

/** What is open: with a deadline first, the nearest first; then who waits longest. */
export function inOrder(pending: readonly PendingAction[]): PendingAction[] {
  const due = (p: PendingAction) => (p.expiresAt === null ? Infinity : Date.parse(p.expiresAt));
  return pending.filter((p) => p.status === "open").sort((a, b) => {
    const by = due(a) - due(b);
    if (by !== 0 && !Number.isNaN(by)) return by;
    return a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.id < b.id ? -1 : 1;
  });
}

/** What it is about, on one line: the question, or the tool. */
export function subject(p: PendingAction): string {
  return p.question !== null && p.question !== "" ? p.question : p.toolName;
}

/** Its arguments on one line: what tells one request of a tool from the next. */
export function gist(p: PendingAction): string {
  if (p.kind === "question") return (p.options ?? []).join(", ");
  if (typeof p.args !== "object" || p.args === null || Array.isArray(p.args)) return JSON.stringify(p.args) ?? "";
  return Object.entries(p.args)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}

/**
 * What can be decided at once with `p`: the permissions of the same tool of the same
 * agent, itself included. Nothing else: a click must not decide what is not alike.
 */
export function alike(p: PendingAction, all: readonly PendingAction[]): PendingAction[] {
  if (p.kind !== "permission" || p.status !== "open") return [];
  return all.filter((o) => o.status === "open" && o.kind === "permission" && o.toolName === p.toolName && o.agentId === p.agentId);
}
