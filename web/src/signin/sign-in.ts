// Signing in, in a file of its own: most visits begin signed in.
import { call } from "@/api/client";
import { keepHalf } from "@/api/sign-in";
import { notifyTabs } from "@/app/sign-in";

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
