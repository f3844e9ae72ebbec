// Finds out who uses this browser before anything else is rendered: redeems the code of a
// one-time link, asks the server for the caller, and shows the sign-in page if there is
// none.
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { api } from "@/api/client";
import { type Caller, ShoalError } from "@shoal-dev/client";
import { onDemand } from "@/ui/on-demand";
import { Loading } from "@/ui/placeholder";
import { watchSignIn } from "./sign-in";

const SignIn = onDemand(() => import("@/signin/signin").then((m) => m.SignIn), { loading: <Loading /> });

const Away = onDemand(() => import("@/offline/away").then((m) => m.Away));

/** The query key of the caller. */
export const callerKey = ["me"] as const;

// The code is in the fragment, which appears in no request and no log. It is removed from
// the address before it is used.
function takeCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get("login") ?? undefined;
  if (code !== undefined) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

const code = takeCode();
let redeemed: Promise<ShoalError | undefined> | undefined;

async function redeem(): Promise<ShoalError | undefined> {
  if (code === undefined) return undefined;
  try {
    const { signIn } = await import("@/signin/signin");
    await signIn({ code });
    return undefined;
  } catch (error) {
    return ShoalError.from(error);
  }
}

interface Found {
  readonly me: Caller | null;
  /** Why a one-time link did not work. */
  readonly refused: ShoalError | undefined;
}

async function find(): Promise<Found> {
  const refused = await (redeemed ??= redeem());
  try {
    return { me: await api.GET("/v1/me"), refused };
  } catch (error) {
    if (ShoalError.from(error).status === 401) return { me: null, refused };
    throw error;
  }
}

/** Renders its children for the caller that is signed in. */
export function Identity({ children }: { children: (me: Caller) => ReactNode }) {
  const found = useQuery({ queryKey: callerKey, queryFn: find, retry: 2, staleTime: Infinity });
  if (found.isPending) return <Loading />;
  if (found.isError) return <Away error={found.error} retry={() => void found.refetch()} />;
  if (found.data.me === null) {
    return <SignIn refused={found.data.refused} onSignedIn={reload} />;
  }
  return <Known me={found.data.me}>{children}</Known>;
}

function Known({ me, children }: { me: Caller; children: (me: Caller) => ReactNode }) {
  useEffect(() => watchSignIn(me, reload), [me]);
  return children(me);
}

// A reload drops everything that another person has read from memory.
const reload = () => location.reload();
