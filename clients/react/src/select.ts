// Lists that are made of several values of a store.
import { useMemo, useSyncExternalStore } from "react";
import type { Store, StoreKey } from "@shoal-dev/client/live";
import { useStore } from "./store.js";

/** Subscribes to what a list is made of. */
export type Subscribe = (store: Store, fn: () => void) => () => void;

/** Subscribes to keys that do not change. */
export function toKeys(...keys: readonly StoreKey[]): Subscribe {
  return (store, fn) => {
    const stops = keys.map((key) => store.subscribe(key, fn));
    return () => stops.forEach((stop) => stop());
  };
}

/**
 * Reads a list. It is the same array until one of its items changes. `subscribe` and `select`
 * must be the same functions until what they depend on changes.
 */
export function useList<T>(subscribe: Subscribe, select: (store: Store) => readonly T[]): readonly T[] {
  const store = useStore();
  const source = useMemo(() => {
    let last: readonly T[] = [];
    return {
      subscribe: (fn: () => void) => subscribe(store, fn),
      get: () => {
        const next = select(store);
        if (!sameItems(last, next)) last = next;
        return last;
      },
    };
  }, [store, subscribe, select]);
  return useSyncExternalStore(source.subscribe, source.get, source.get);
}

function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}
