// Signing in with an account at the server's OpenID provider. The page remembers the state of the
// sign-in that it has begun: an answer to another one, which somebody else may have sent this
// browser, is not used.
import { call } from "@/api/client";
import { signedInWith } from "./sign-in";
import { ShoalError } from "@shoal-dev/client";

const item = "shoal.provider";

interface Begun {
  readonly state: string;
  /** The page to return to. */
  readonly back: string;
}

/** The name of the provider; undefined if there is none. */
export async function providerName(): Promise<string | undefined> {
  return (await call<{ name: string } | undefined>("GET", "/console/oidc/"))?.name;
}

/** Leaves the page for the provider. Throws a ShoalError. */
export async function beginSignIn(): Promise<void> {
  const { url, state } = await call<{ url: string; state: string }>("POST", "/console/oidc/start", {});
  const begun: Begun = { state, back: location.pathname + location.search };
  sessionStorage.setItem(item, JSON.stringify(begun));
  location.assign(url);
}

// The provider's answer is in the fragment. It is removed from the address before it is used.
function takeAnswer(): URLSearchParams | undefined {
  const text = new URLSearchParams(location.hash.slice(1)).get("oidc");
  if (text === null) return undefined;
  history.replaceState(null, "", location.pathname + location.search);
  return new URLSearchParams(text);
}

function takeBegun(): Begun | undefined {
  const text = sessionStorage.getItem(item);
  sessionStorage.removeItem(item);
  return text === null ? undefined : (JSON.parse(text) as Begun);
}

/** Where a page of this console is, whatever the address says. */
export function ownPath(address: string): string {
  const url = new URL(address, location.origin);
  return url.origin === location.origin ? url.pathname + url.search : "/";
}

async function finish(answer: URLSearchParams): Promise<string> {
  const begun = takeBegun();
  if (begun === undefined || begun.state !== answer.get("state")) {
    throw new ShoalError(401, "unauthenticated", "This window has not begun this sign-in, or has begun another one since. Sign in again.");
  }
  const { signIn: half } = await call<{ signIn: string }>("POST", "/console/oidc/finish", Object.fromEntries(answer));
  await signedInWith(half);
  return ownPath(begun.back);
}

/**
 * Ends the sign-in with the provider whose answer is in the address, and resolves with the page to
 * go to; undefined if there is no answer there. The page may be drawn twice, so it is done once.
 */
export function finishSignIn(): Promise<string> | undefined {
  const answer = takeAnswer();
  if (answer !== undefined) finishing = finish(answer);
  return finishing;
}

let finishing: Promise<string> | undefined;
