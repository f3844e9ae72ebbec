// Signing in and out concerns all tabs of a browser: they share the cookie. What a
// tab holds of one person is nothing for the next one, so each begins anew.
import { api, call } from "@/api/client";
import { Problem } from "@/client/problem";
import type { Caller } from "@/client/types";
import { dropHalf, keepHalf } from "@/api/sign-in";

const channel = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("shoal.signed");

/** Tells the other tabs that somebody has signed in or out here. */
function tellSigned(): void {
  channel?.postMessage(null);
}

/** Signs this browser in, with the code of a link or with a key. Throws a Problem. */
export async function signIn(credentials: { readonly code: string } | { readonly key: string }): Promise<void> {
  const { signIn: half } = await call<{ signIn: string }>("POST", "/console/login", credentials);
  await keepHalf(half);
  tellSigned();
}

/** Signs this browser out, or everywhere all that have signed in as this one has. Throws a Problem. */
export async function signOut(everywhere: boolean): Promise<void> {
  await call("POST", "/console/logout", everywhere ? { everywhere } : undefined);
  await dropHalf();
  tellSigned();
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
const caller = (): Promise<Caller> => api.GET("/v1/me", { headers: { "X-Shoal-Entity": "" } });
