// What of a timeline a reader has had on the screen, and what that lets the server count as
// read. Pure.
import type { Message } from "@shoal-dev/client";

/** How long a message is on the screen until it counts as read, in ms. */
export const dwell = 1000;

/**
 * The seq up to which everything was on the screen, counted from the oldest unread message
 * `first`; undefined if that one was not. It stops at the first message that was not, and
 * where messages are not loaded, so that nothing is skipped. The reader's own messages need
 * not be seen, and messages that are still streaming are not unread yet.
 */
export function readUpTo(messages: readonly Message[], first: number, reader: string | null, seen: ReadonlySet<string>): number | undefined {
  let upTo = first - 1;
  for (const m of messages) {
    if (m.seq < first) continue;
    if (m.seq !== upTo + 1) break;
    if (m.entityId !== reader && m.status !== "streaming" && !seen.has(m.id)) break;
    upTo = m.seq;
  }
  return upTo < first ? undefined : upTo;
}

/** How many messages from the seq `from` to the seq `to` can be unread; those that are not loaded count. */
export function countBetween(messages: readonly Message[], from: number, to: number, reader: string | null): number {
  const read = messages.filter((m) => m.seq >= from && m.seq <= to && (m.entityId === reader || m.status === "streaming")).length;
  return Math.max(0, to - from + 1 - read);
}

/** Collects which messages have been on the screen without interruption for `dwell`. */
export class Seen {
  readonly ids = new Set<string>();
  private since = new Map<string, number>();

  /** Reports what is on the screen at a time in ms. */
  sample(onScreen: readonly string[], now: number): void {
    this.since = new Map(onScreen.map((id) => [id, this.since.get(id) ?? now]));
    for (const [id, at] of this.since) if (now - at >= dwell) this.ids.add(id);
  }
}
