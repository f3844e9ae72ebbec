// Reads values of a followed session. A hook renders its component again only when its own
// value changes: values keep their identity until then.
import { createContext, useContext, useMemo, useSyncExternalStore } from "react";
import type { Store, StoreKey } from "@shoal-dev/client/live";
import type { Connection, Entity, Message } from "@shoal-dev/client";

/** The store that the hooks read. ShoalProvider sets it; a program with a store of its own may set it itself. */
export const StoreContext = /* @__PURE__ */ createContext<Store | null>(null);

/** The store of the followed session. Throws outside of a provider. */
export function useStore(): Store {
  const store = useContext(StoreContext);
  if (store === null) throw new Error("useStore is used outside of a ShoalProvider");
  return store;
}

/** Reads the value of a key. `read` must return the same value until it changes. */
export function useStoreValue<T>(key: StoreKey, read: (store: Store) => T): T {
  const store = useStore();
  const subscribe = useMemo(() => (fn: () => void) => store.subscribe(key, fn), [store, key]);
  const get = (): T => read(store);
  return useSyncExternalStore(subscribe, get, get);
}

/** The state of the connection: `connecting`, `live`, `offline`, `signed-out` or `gone`. */
export function useConnection(): Connection {
  return useStoreValue("connection", (s) => s.connection);
}

/** One message, streaming or not; undefined if it is not loaded. */
export function useMessage(id: string): Message | undefined {
  return useStoreValue(`message:${id}`, (s) => s.live.messages.get(id));
}

/** One person or agent, with its presence in `state`; undefined while it is unknown. */
export function useEntity(id: string): Entity | undefined {
  return useStoreValue(`entity:${id}`, (s) => s.live.entities.get(id));
}
