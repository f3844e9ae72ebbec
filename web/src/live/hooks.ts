// What components read of the followed session. Each hook draws its component
// again when its own value has changed, and not otherwise.
import { createContext, useContext, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import type { Entity, Message, PendingAction, Run, Space } from "@/client/types";
import type { Connection } from "@/client/follower";
import type { LiveSpace } from "@/client/session-state";
import { close, open, Store, type StoreKey } from "./store";

/** The store of the session that the page is in. */
export const LiveContext = createContext<Store | null>(null);

/** The store of the session that the page is in. Throws outside of one. */
export function useLive(): Store {
  const store = useContext(LiveContext);
  if (store === null) throw new Error("useLive is used outside of a session");
  return store;
}

/** Reads a value that belongs to a key. `read` must return the same value while nothing changed. */
export function useLiveValue<T>(key: StoreKey, read: (store: Store) => T): T {
  const store = useLive();
  const subscribe = useMemo(() => (fn: () => void) => store.subscribe(key, fn), [store, key]);
  return useSyncExternalStore(subscribe, () => read(store));
}

// Lists are made anew only when their key tells of a change.
function useList<T>(key: StoreKey, make: (store: Store) => readonly T[]): readonly T[] {
  const store = useLive();
  const [list, setList] = useState(() => make(store));
  useEffect(() => {
    const renew = () => setList(make(store));
    renew();
    return store.subscribe(key, renew);
    // `make` is the same function for the life of each hook below.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [store, key]);
  return list;
}

/** How the connection to the server stands. */
export function useConnection(): Connection {
  return useLiveValue("connection", (s) => s.connection);
}

/** One space with the messages that are here; undefined while it is not known. */
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

/** One run, if the stream has told of it. */
export function useRun(id: string): Run | undefined {
  return useLiveValue(`run:${id}`, (s) => s.live.runs.get(id));
}

const allSpaces = (s: Store): readonly Space[] => [...s.live.spaces.values()].map((l) => l.space);
const allEntities = (s: Store): readonly Entity[] => [...s.live.entities.values()];
const allPending = (s: Store): readonly PendingAction[] => [...s.live.pending.values()];
const allRuns = (s: Store): readonly Run[] => [...s.live.runs.values()];

/** All spaces, in no order. */
export const useSpaces = () => useList("spaces", allSpaces);
/** All entities of the session, in no order. */
export const useEntities = () => useList("entities", allEntities);
/** What waits for somebody, and what was settled while this page was open. */
export const usePending = () => useList("pending", allPending);
/** The runs under way, and those that ended while this page was open. */
export const useRuns = () => useList("runs", allRuns);

/** The name of an entity, its id while it is not known, "Shoal" for the server. */
export function useName(id: string): string {
  const entity = useEntity(id);
  return id === "system" ? "Shoal" : (entity?.name ?? id);
}

/**
 * Follows a session as an entity sees it, or as an admin who acts as nobody (null),
 * while the component is there; null until it does. With `own` the key is the
 * entity's: only the spaces that it is in are followed.
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
