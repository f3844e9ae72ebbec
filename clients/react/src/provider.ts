// The session that the hooks below a provider read and write.
import { createContext, createElement, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import type { Message, Shoal } from "@shoal-dev/client";
import { LiveSession } from "@shoal-dev/client/live";
import { browserStorage } from "./outbox-storage.js";
import { type Renderers, RenderersContext } from "./renderers.js";
import { StoreContext } from "./store.js";

const SessionContext = /* @__PURE__ */ createContext<LiveSession | null>(null);

/** What a provider needs. */
export interface ShoalProviderProps {
  /** The server, the key and the session. Create it once, outside of components: another one starts over. */
  readonly client: Shoal;
  /** Draws the calls of display tools: see `createRenderers`. */
  readonly renderers?: Renderers;
  /** Receives each message that was sent and is stored: `skippedAgents` and `reach` say what became of its mentions. */
  readonly onSent?: (message: Message) => void;
  readonly children?: ReactNode;
}

/**
 * Follows the session of a client while it is mounted: one stream for all hooks below it,
 * however many there are. What a person sends is kept in the browser until the server has it.
 */
export function ShoalProvider({ client, renderers, onSent, children }: ShoalProviderProps): ReactNode {
  const [sent] = useState<{ fn: typeof onSent }>(() => ({ fn: undefined }));
  useEffect(() => void (sent.fn = onSent), [sent, onSent]);
  // Without effect until it is started: React may make several, and drop them.
  const session = useMemo(() => new LiveSession(client, { onSent: (m) => sent.fn?.(m), ...(typeof indexedDB !== "undefined" && { storage: browserStorage }) }), [client, sent]);
  useEffect(() => {
    const stop = session.start();
    const retry = (): void => session.retryNow();
    const events = ["online", "focus", "pageshow"];
    for (const name of events) addEventListener(name, retry);
    return () => {
      for (const name of events) removeEventListener(name, retry);
      stop();
    };
  }, [session]);
  const inner = createElement(StoreContext.Provider, { value: session.store }, children);
  return createElement(SessionContext.Provider, { value: session }, renderers === undefined ? inner : createElement(RenderersContext.Provider, { value: renderers }, inner));
}

/** The session of the provider: its client is `shoal`. Throws outside of a provider. */
export function useSession(): LiveSession {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("This hook is used outside of a ShoalProvider");
  return session;
}
