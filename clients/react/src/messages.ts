// The timeline of a space.
import { useCallback, useMemo } from "react";
import type { Message } from "@shoal-dev/client";
import type { Store } from "@shoal-dev/client/live";
import { useSession } from "./provider.js";
import { type Subscribe, useList } from "./select.js";
import { useStoreValue } from "./store.js";

/** The loaded messages of a space. */
export interface Timeline {
  /**
   * The oldest first. A message that has not changed is the same object, so components of
   * messages that are wrapped in `memo` are not rendered again when another one grows.
   */
  readonly messages: readonly Message[];
  /** Whether there are messages before the first one. */
  readonly hasOlder: boolean;
  /** Loads a page of them. Reports whether there are more. */
  readonly loadOlder: () => Promise<boolean>;
}

/** The newest messages of a space, each while it is written. */
export function useMessages(space: string): Timeline {
  const session = useSession();
  const { subscribe, select } = useMemo(() => ({ subscribe: toMessagesOf(space), select: (s: Store) => s.live.messagesIn(space) }), [space]);
  const messages = useList(subscribe, select);
  const loadOlder = useCallback(() => session.loadOlder(space), [session, space]);
  const hasOlder = (messages[0]?.seq ?? 1) > 1;
  return useMemo(() => ({ messages, hasOlder, loadOlder }), [messages, hasOlder, loadOlder]);
}

const none: readonly string[] = [];

/** The ids of the loaded messages of a space. The array changes when a message is added, not while one grows: read each with `useMessage`. */
export function useMessageIds(space: string): readonly string[] {
  return useStoreValue(`space:${space}`, (s) => s.live.spaces.get(space)?.order) ?? none;
}

// Subscribes to the space, and to each message that it has.
function toMessagesOf(space: string): Subscribe {
  return (store, fn) => {
    const stops = new Map<string, () => void>();
    const renew = (): void => {
      const order = new Set(store.live.spaces.get(space)?.order);
      for (const id of order) if (!stops.has(id)) stops.set(id, store.subscribe(`message:${id}`, fn));
      for (const [id, stop] of stops) {
        if (order.has(id)) continue;
        stop();
        stops.delete(id);
      }
    };
    const stop = store.subscribe(`space:${space}`, () => {
      renew();
      fn();
    });
    renew();
    return () => {
      stop();
      for (const end of stops.values()) end();
    };
  };
}
