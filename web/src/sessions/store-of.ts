// The live state of any session as an admin sees it who acts as nobody: all of it.
import { useEffect, useState } from "react";
import { close, open, type Store } from "@/live/store";

/** Follows a session while the component is there; null until it does. */
export function useStoreOf(session: string): Store | null {
  const [store, setStore] = useState<Store | null>(null);
  useEffect(() => {
    const opened = open({ session, entity: null });
    setStore(opened);
    return () => {
      setStore(null);
      close(opened);
    };
  }, [session]);
  return store;
}
