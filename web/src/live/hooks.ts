// Hooks that read the state of the followed session. A hook renders its component again
// only when its own value changes.
import { createContext, useContext, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { isOfTrial } from "@/app/trials";
import type { Connection, Entity, LiveSpace, Message, PendingAction, Run, Space } from "@shoal-dev/client";
import type { Store, StoreKey } from "@shoal-dev/client/live";
import { close, open } from "./store";

/** The store of the page's session. */
export const LiveContext = createContext<Store | null>(null);

/** Returns the store of the page's session. Throws outside of a session. */
export function useLive(): Store {
  const store = useContext(LiveContext);
  if (store === null) throw new Error("useLive is used outside of a session");
  return store;
}

/** Reads the value of a key. `read` must return the same value until it changes. */
export function useLiveValue<T>(key: StoreKey, read: (store: Store) => T): T {
  const store = useLive();
  const subscribe = useMemo(() => (fn: () => void) => store.subscribe(key, fn), [store, key]);
  return useSyncExternalStore(subscribe, () => read(store));
}

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

/** The state of the connection to the server. */
export function useConnection(): Connection {
  return useLiveValue("connection", (s) => s.connection);
}

/** One space with its loaded messages; undefined while it is unknown. */
export function useSpace(id: string): LiveSpace | undefined {
  return useLiveValue(`space:${id}`, (s) => s.live.spaces.get(id));
}

/** One message, streaming or not. */
export function useMessage(id: string): Message | undefined {
  return useLiveValue(`message:${id}`, (s) => s.live.messages.get(id));
}

/** One entity with its live state. */
export function useEntity(id: string): Entity | undefined {
  return useLiveValue(`entity:${id}`, (s) => s.live.entities.get(id));
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
