// Spaces, their members and their presence.
import { useCallback, useMemo } from "react";
import type { Entity, Space } from "@shoal-dev/client";
import type { Store } from "@shoal-dev/client/live";
import { useSession } from "./provider.js";
import { type Subscribe, toKeys, useList } from "./select.js";
import { useStoreValue } from "./store.js";

const allSpaces = (s: Store): readonly Space[] => [...s.live.spaces.values()].map((l) => l.space);
const onSpaces = toKeys("spaces");

/** The spaces of the caller, in no order. */
export function useSpaces(): readonly Space[] {
  return useList(onSpaces, allSpaces);
}

/** A space as a page shows it. */
export interface SpaceView {
  /** Undefined until the stream has reported the space, and for a space that the caller is not in. */
  readonly space: Space | undefined;
  /** Marks the messages up to a `seq` as read; without it all that are loaded. */
  readonly markRead: (seq?: number) => Promise<void>;
}

/** One space: its name, members, and unread counts. */
export function useSpace(id: string): SpaceView {
  const session = useSession();
  const space = useStoreValue(`space:${id}`, (s) => s.live.spaces.get(id)?.space);
  const markRead = useCallback((seq?: number) => session.markRead(id, seq), [session, id]);
  return useMemo(() => ({ space, markRead }), [space, markRead]);
}

/**
 * The members of a space with their presence: `state` is `waiting`, `running`, `connected` or
 * `offline`. A large space lists at most 100 of them.
 */
export function usePresence(space: string): readonly Entity[] {
  const { subscribe, select } = useMemo(() => {
    const select = (s: Store): readonly Entity[] => (s.live.spaces.get(space)?.space.members ?? []).flatMap((m) => s.live.entities.get(m.entityId) ?? []);
    return { subscribe: toKeys(`space:${space}`, "entities") satisfies Subscribe, select };
  }, [space]);
  return useList(subscribe, select);
}
