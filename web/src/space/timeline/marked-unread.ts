// Spaces in which the reader has marked messages as unread. Nothing in them counts as read
// by itself until the reader leaves the space.
import { api } from "@/api/client";
import type { Message } from "@shoal-dev/client";
import type { Store } from "@shoal-dev/client/live";

const held = new Set<string>();

/** Reports whether the reader has marked messages of the space as unread. */
export const isHeld = (space: string): boolean => held.has(space);

/** Messages of the space were marked as unread: what is on the screen does not count as read. */
export function hold(space: string): void {
  held.add(space);
}

/** The reader has left the space, or has marked everything as read. */
export function release(space: string): void {
  held.delete(space);
}

/** Makes a message and all after it unread again, for the acting participant. */
export async function markUnread(store: Store, session: string, m: Message): Promise<void> {
  held.add(m.spaceId);
  try {
    const space = await api.POST("/v1/sessions/{session}/spaces/{space}/unread", { params: { path: { session, space: m.spaceId } }, body: { seq: m.seq } });
    store.share([{ type: "local.read", space }]);
  } catch (error) {
    held.delete(m.spaceId);
    throw error;
  }
}
