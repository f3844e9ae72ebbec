// Which message of a space its reader is replying to. It belongs to the tab.
import { useSyncExternalStore } from "react";

const chosen = new Map<string, string>();
const listeners = new Set<() => void>();

/** Chooses the message that the next one in a space replies to; undefined for none. */
export function replyTo(space: string, message: string | undefined): void {
  if (message === undefined) chosen.delete(space);
  else chosen.set(space, message);
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** The message that the next one in a space replies to. */
export function useReplyTo(space: string): string | undefined {
  return useSyncExternalStore(subscribe, () => chosen.get(space));
}
