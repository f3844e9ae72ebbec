// Signing in and out affects all tabs of a browser, because they share the cookie. A tab
// must not show one person's data to the next, so each tab reloads.
import { api } from "@/api/client";
import { type Caller, ShoalError } from "@shoal-dev/client";

const channel = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("shoal.signed");

/** Notifies the other tabs that a person signed in or out here. */
export function notifyTabs(): void {
  channel?.postMessage(null);
}

/**
 * Calls `changed` when another tab signs `me` out, or signs in with other rights. Returns a
 * function that ends this.
 */
export function watchSignIn(me: Caller, changed: () => void, who: () => Promise<Caller> = caller): () => void {
  const check = async () => {
    try {
      const now = await who();
      if (now.role !== me.role || now.entityId !== me.entityId || now.sessionId !== me.sessionId) changed();
    } catch (error) {
      if (ShoalError.from(error).status === 401) changed();
    }
  };
  const hear = () => void check();
  channel?.addEventListener("message", hear);
  return () => channel?.removeEventListener("message", hear);
}

// The key's own caller, whatever entity an admin acts as.
const caller = (): Promise<Caller> => api.GET("/v1/me", { headers: { "X-Shoal-Entity": "" } });
