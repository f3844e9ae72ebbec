// What a person writes, and what of it is on its way.
import { useCallback, useMemo, useSyncExternalStore } from "react";
import { type Outgoing, type Sending, type Store, unseen } from "@shoal-dev/client/live";
import { useSession } from "./provider.js";
import { useStore } from "./store.js";

/** Sends messages to a space. */
export interface Composer {
  /**
   * Sends a text, or a text with mentions and files. It is in `outgoing` at once and posted
   * once, after those before it, also if the server is away or the page is closed meanwhile.
   * Resolves with its key once it is stored in the browser.
   */
  readonly send: (message: string | Sending) => Promise<string>;
  /**
   * The messages that the timeline does not show yet, the oldest first. `refused` says why the
   * server did not take one.
   */
  readonly outgoing: readonly Outgoing[];
  /** Sends one that was refused once more. */
  readonly retry: (key: string) => Promise<void>;
  /** Drops one. */
  readonly discard: (key: string) => Promise<void>;
}

/** The composer of a space. What a person is typing is not part of it. */
export function useComposer(space: string): Composer {
  const session = useSession();
  const store = useStore();
  const source = useMemo(() => {
    let last: readonly Outgoing[] = [];
    return {
      subscribe: (fn: () => void) => {
        const stops = [session.subscribeOutgoing(fn), store.subscribe(`space:${space}`, fn)];
        return () => stops.forEach((stop) => stop());
      },
      get: () => {
        const next = notShown(session.outgoing(), space, store);
        if (next.length !== last.length || next.some((o, i) => o !== last[i])) last = next;
        return last;
      },
    };
  }, [session, store, space]);
  const outgoing = useSyncExternalStore(source.subscribe, source.get, source.get);
  const send = useCallback((message: string | Sending) => session.send(space, typeof message === "string" ? { text: message } : message), [session, space]);
  const retry = useCallback((key: string) => session.retry(key), [session]);
  const discard = useCallback((key: string) => session.discard(key), [session]);
  return useMemo(() => ({ send, outgoing, retry, discard }), [send, outgoing, retry, discard]);
}

function notShown(all: readonly Outgoing[], space: string, store: Store): readonly Outgoing[] {
  const mine = all.filter((o) => o.space === space);
  return mine.length === 0 ? mine : unseen(mine, store.live.me, store.live.messagesIn(space));
}
