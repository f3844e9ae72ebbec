// Signing in and out concerns all tabs of a browser: they share the cookie. What a
// tab holds of one person is nothing for the next one, so each begins anew.
import { api, data } from "@/api/client";
import { Problem } from "@/api/problem";
import type { Caller } from "@/api/shapes";

const channel = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("shoal.signed");

/** Tells the other tabs that somebody has signed in or out here. */
export function tellSigned(): void {
  channel?.postMessage(null);
}

/**
 * Calls `changed` when another tab has made this browser somebody else's: when `me`
 * is signed in no more, or has other rights. Returns the way to stop it.
 */
export function watchSigned(me: Caller, changed: () => void, who: () => Promise<Caller> = caller): () => void {
  const look = async () => {
    try {
      const now = await who();
      if (now.role !== me.role || now.entityId !== me.entityId || now.sessionId !== me.sessionId) changed();
    } catch (error) {
      if (Problem.from(error).status === 401) changed();
    }
  };
  const hear = () => void look();
  channel?.addEventListener("message", hear);
  return () => channel?.removeEventListener("message", hear);
}

// The key's own, whoever an admin acts as here.
const caller = (): Promise<Caller> => data(api.GET("/v1/me", { headers: { "X-Shoal-Entity": "" } }));
