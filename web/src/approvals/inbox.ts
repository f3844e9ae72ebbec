// Which pending actions are whose, and their order. Pure functions.
import type { PendingAction, Space } from "@shoal-dev/client";
import { label, moneyOf, toldElsewhere } from "@/parts/renderers/words";

/**
 * Reports whether an action waits for the caller. The server lists for an entity what it
 * may answer (`answerable`: the ids; undefined if it lists everything). An admin that acts
 * as an entity answers in that entity's spaces; an admin that acts as none may answer
 * everything that one answer settles.
 */
export function isMine(p: PendingAction, actor: string | null, spaces: readonly Space[], answerable: ReadonlySet<string> | undefined): boolean {
  if (answerable !== undefined) return answerable.has(p.id);
  if (actor === null) return p.quorum < 2;
  if (p.notRequester && p.requesters.includes(actor)) return false;
  if (p.kind === "permission" && p.by === null && p.requesters.includes(actor)) return true;
  return p.agentId !== actor && spaces.some((s) => s.id === p.spaceId && s.members.some((m) => m.entityId === actor));
}

/** The open actions: by deadline, then the oldest first. */
export function inOrder(pending: readonly PendingAction[]): PendingAction[] {
  const due = (p: PendingAction) => (p.expiresAt === null ? Infinity : Date.parse(p.expiresAt));
  return pending.filter((p) => p.status === "open").sort((a, b) => {
    const by = due(a) - due(b);
    if (by !== 0 && !Number.isNaN(by)) return by;
    return a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.id < b.id ? -1 : 1;
  });
}

/** The arguments on one line, which distinguish requests for one tool. */
export function gist(p: PendingAction): string {
  if (p.kind === "question") return (p.options ?? []).join(", ");
  if (typeof p.args !== "object" || p.args === null || Array.isArray(p.args)) return JSON.stringify(p.args) ?? "";
  return Object.entries(p.args)
    .filter(([name]) => !toldElsewhere(p.args, name))
    .map(([name, value]) => `${label(name)}: ${moneyOf(p.args, name) ?? (typeof value === "string" ? value : JSON.stringify(value))}`)
    .join(", ");
}

/**
 * The actions that can be decided together with `p`, including `p`: permissions for the
 * same tool of the same agent. One click must not decide different things.
 */
export function alike(p: PendingAction, all: readonly PendingAction[]): PendingAction[] {
  if (p.kind !== "permission" || p.status !== "open") return [];
  return all.filter((o) => o.status === "open" && o.kind === "permission" && o.toolName === p.toolName && o.agentId === p.agentId);
}
