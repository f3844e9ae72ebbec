// Which events cause a notification, and its text.
import type { LiveEvent, SessionState } from "@shoal-dev/client";

/** A notification, and the page that it opens. */
export interface News {
  readonly title: string;
  readonly body: string;
  /** Equal tags replace each other. */
  readonly tag: string;
  /** The space; undefined for none. */
  readonly space: string | undefined;
  /** The `seq` of the message in the space. */
  readonly seq: number | undefined;
}

/**
 * The notification of an event: a mention, or a pending action. Undefined for all other
 * events, for the reader's own messages, and for spaces that the reader is not a member of or has
 * muted.
 * It never contains the text of a message.
 */
export function newsOf(event: LiveEvent, live: SessionState): News | undefined {
  const me = live.me;
  if (me === null) return undefined;
  const nameOf = (id: string) => (id === "system" ? "Shoal" : (live.entities.get(id)?.name ?? id));
  const mine = (space: string | null) => {
    const found = live.spaces.get(space ?? "")?.space;
    return found?.members.some((m) => m.entityId === me) === true && !found.muted ? found : undefined;
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
    // A composite message is reported when it is complete.
    if (m.status === "streaming" || m.entityId === me || !m.mentions.includes(me) || space === undefined) return undefined;
    return { title: `${nameOf(m.entityId)} mentioned you`, body: space.name, tag: `message:${m.id}`, space: space.id, seq: m.seq };
  }
  return undefined;
}
