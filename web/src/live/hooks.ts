// Hooks that read the state of the followed session. A hook renders its component again
// only when its own value changes.
import { useEffect, useState } from "react";
import { useEntity, useStore as useLive, useStoreValue as useLiveValue } from "@shoal-dev/react";
import { isOfTrial } from "@/app/trials";
import type { Entity, LiveSpace, PendingAction, Run, Space } from "@shoal-dev/client";
import type { Store, StoreKey } from "@shoal-dev/client/live";
import { close, open } from "./store";

// The hooks of the package read the console's store.
export { StoreContext as LiveContext, useConnection, useEntity, useMessage, useStore as useLive, useStoreValue as useLiveValue } from "@shoal-dev/react";

// Builds a list again only when its key reports a change.
function useList<T>(key: StoreKey, make: (store: Store) => readonly T[]): readonly T[] {
  const store = useLive();
  const [list, setList] = useState(() => make(store));
  useEffect(() => {
    const renew = () => setList(make(store));
    renew();
    return store.subscribe(key, renew);
    // `make` is constant in each of the hooks below.
  }, [store, key]);
  return list;
}

/** One space with its loaded messages; undefined while it is unknown. */
export function useSpace(id: string): LiveSpace | undefined {
  return useLiveValue(`space:${id}`, (s) => s.live.spaces.get(id));
}

/** One run; undefined if the stream has not reported it. */
export function useRun(id: string): Run | undefined {
  return useLiveValue(`run:${id}`, (s) => s.live.runs.get(id));
}

const allSpaces = (s: Store): readonly Space[] => [...s.live.spaces.values()].map((l) => l.space).filter((space) => !isOfTrial(space));
const allEntities = (s: Store): readonly Entity[] => [...s.live.entities.values()].filter((e) => !isOfTrial(e));
const allPending = (s: Store): readonly PendingAction[] => [...s.live.pending.values()].filter((p) => !isOfTrial(s.live.entities.get(p.agentId) ?? { metadata: {} }));
const allRuns = (s: Store): readonly Run[] => [...s.live.runs.values()];

/** All spaces but those of trials, in no order. */
export const useSpaces = () => useList("spaces", allSpaces);
/** All entities of the session but those of trials, in no order. */
export const useEntities = () => useList("entities", allEntities);
/** The open pending actions, and those that were settled while this page was open; none of trials. */
export const usePending = () => useList("pending", allPending);
/** The active runs, and those that ended while this page was open. */
export const useRuns = () => useList("runs", allRuns);

/** The name of an entity: its id while the entity is unknown, "Shoal" for the server. */
export function useName(id: string): string {
  const entity = useEntity(id);
  return id === "system" ? "Shoal" : (entity?.name ?? id);
}

/**
 * Follows a session while the component is mounted; null until then. `entity` is the entity
 * that acts, null for an admin that acts as none. If `own`, the key belongs to the entity and
 * only the spaces that it is a member of are followed.
 */
export function useStore(session: string, entity: string | null, own = false): Store | null {
  const [store, setStore] = useState<Store | null>(null);
  useEffect(() => {
    const opened = open({ session, entity, own });
    setStore(opened);
    return () => close(opened);
  }, [session, entity, own]);
  return store;
}
