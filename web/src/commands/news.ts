// Which events are worth a notification, and its words.
import type { SessionState, LiveEvent } from "@/client/session-state";

/** What a notification says, and where it leads. */
export interface News {
  readonly title: string;
  readonly body: string;
  /** The same for the same thing. */
  readonly tag: string;
  /** The space that it is about; undefined: none. */
  readonly space: string | undefined;
  /** The place of the message in it. */
  readonly seq: number | undefined;
}

/**
 * What an event tells its reader: somebody mentioned them, or something waits for
 * an answer. Undefined for everything else, for what the reader wrote, and for
 * spaces that the reader is not in. It never holds what was said.
 */
export function newsOf(event: LiveEvent, live: SessionState): News | undefined {
  const me = live.me;
  if (me === null) return undefined;
  const nameOf = (id: string) => (id === "system" ? "Shoal" : (live.entities.get(id)?.name ?? id));
  const mine = (space: string | null) => {
    const found = live.spaces.get(space ?? "")?.space;
    return found?.members.some((m) => m.entityId === me) === true ? found : undefined;
  };
  if (event.type === "pending.opened") {
    const p = event.pendingAction;
    const space = mine(p.spaceId);
    if (p.status !== "open" || (p.spaceId !== null && space === undefined)) return undefined;
    const seq = p.messageId === null ? undefined : live.messages.get(p.messageId)?.seq;
    return { title: `${nameOf(p.agentId)} needs an answer`, body: space?.name ?? "Approvals", tag: `pending:${p.id}`, space: space?.id, seq };
  }
  if (event.type === "message.created" || event.type === "message.completed") {
    const m = event.message;
    const space = mine(m.spaceId);
    // A composite message is told of when it is whole.
    if (m.status === "streaming" || m.entityId === me || !m.mentions.includes(me) || space === undefined) return undefined;
    return { title: `${nameOf(m.entityId)} mentioned you`, body: space.name, tag: `message:${m.id}`, space: space.id, seq: m.seq };
  }
  return undefined;
}
