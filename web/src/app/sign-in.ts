// Signing in and out affects all tabs of a browser, because they share the cookie. A tab
// must not show one person's data to the next, so each tab reloads.
import { api, call } from "@/api/client";
import { type Caller, ShoalError } from "@shoal-dev/client";
import { dropHalf, keepHalf } from "@/api/sign-in";

const channel = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("shoal.signed");

/** Notifies the other tabs that a person signed in or out here. */
function notifyTabs(): void {
  channel?.postMessage(null);
}

/** Signs this browser in, with the code of a link or with a key. Throws a ShoalError. */
export async function signIn(credentials: { readonly code: string } | { readonly key: string }): Promise<void> {
  const { signIn: half } = await call<{ signIn: string }>("POST", "/console/login", credentials);
  await signedInWith(half);
}

/** Keeps the half of a sign-in that another call than signIn has made. Throws a ShoalError. */
export async function signedInWith(half: string): Promise<void> {
  await keepHalf(half);
  notifyTabs();
}

/**
 * Signs this browser out. If `everywhere`, signs out all browsers that signed in with the
 * same key, by a link or as the same person, as this one did. Returns where to go next. Throws a
 * ShoalError.
 */
export async function signOut(everywhere: boolean): Promise<string> {
  const out = await call<{ url: string } | undefined>("POST", "/console/logout", everywhere ? { everywhere } : undefined);
  await dropHalf();
  notifyTabs();
  return out?.url ?? "/";
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
