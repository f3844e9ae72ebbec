// What a timeline shows, from top to bottom: messages, the days between them, the
// line over what is unread, and holes where messages have not been loaded. Pure.
import type { Message } from "@shoal-dev/client";

/** One row of a timeline. */
export type Entry =
  | { readonly kind: "message"; readonly key: string; readonly id: string; /** Follows a message of the same sender closely. */ readonly joined: boolean }
  | { readonly kind: "day"; readonly key: string; readonly at: string }
  | { readonly kind: "unread"; readonly key: string; readonly at: string }
  /** The messages between two places are not here. */
  | { readonly kind: "hole"; readonly key: string; readonly after: number; readonly before: number };

/** How long after the one before a message still joins it, in ms. */
const joinWithin = 5 * 60_000;

/** The rows of some messages in the order of their `seq`. The unread line is before the message with the seq `firstUnread`. */
export function entries(messages: readonly Message[], firstUnread: number | undefined): Entry[] {
  const out: Entry[] = [];
  let before: Message | undefined;
  for (const m of messages) {
    if (before !== undefined && m.seq > before.seq + 1) {
      out.push({ kind: "hole", key: `hole-${before.seq}`, after: before.seq, before: m.seq });
      before = undefined;
    }
    if (before === undefined || day(before.createdAt) !== day(m.createdAt)) {
      out.push({ kind: "day", key: `day-${m.seq}`, at: m.createdAt });
      before = undefined;
    }
    if (m.seq === firstUnread) {
      out.push({ kind: "unread", key: "unread", at: m.createdAt });
      before = undefined;
    }
    out.push({ kind: "message", key: m.id, id: m.id, joined: joins(before, m) });
    before = m;
  }
  return out;
}

function joins(before: Message | undefined, m: Message): boolean {
  if (m.mentions.length > 0) return false; // Whom it is for stands over it, and needs a head.
  return before !== undefined && before.entityId === m.entityId && m.entityId !== "system" && before.runId === m.runId && Date.parse(m.createdAt) - Date.parse(before.createdAt) < joinWithin;
}

const day = (at: string): string => new Date(at).toDateString();
