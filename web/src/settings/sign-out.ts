// Signing out, in a file of its own: only the settings need it.
import { call } from "@/api/client";
import { dropHalf } from "@/api/sign-in";
import { notifyTabs } from "@/app/sign-in";

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
