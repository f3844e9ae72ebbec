// The sign-in of this browser, signing in on another device, and signing out.
import { useMutation } from "@tanstack/react-query";
import { LogOut, MonitorSmartphone } from "lucide-react";
import { call } from "@/api/client";
import { useConsole } from "@/app/console";
import { Copyable } from "@/connect/copyable";
import { Button } from "@/ui/button";
import { Failed } from "@/ui/placeholder";
import { duration, useNow } from "@/ui/time";
import { openKey } from "./own-key";
import { SignIns } from "./sign-ins";
import { signOut } from "./sign-out";

interface ConsoleLink {
  readonly url: string;
  /** When it expires; null if it does not. */
  readonly expiresAt: string | null;
}

/** The section about this browser's sign-in. */
export function Browser() {
  const { me, admin } = useConsole();
  if (me.keyId === openKey) {
    return <p>This server runs with --auth off: everybody on this machine is an admin, without signing in. It listens on this machine only.</p>;
  }
  return (
    <div className="flex max-w-xl flex-col gap-8">
      <p>
        {me.entityId !== null && me.signInId === null ? (
          <>
            You are signed in as <span className="font-medium break-all">{me.entityId}</span> with an account.
          </>
        ) : (
          <>
            You are signed in with the {me.role} key <code className="font-mono break-all">{me.keyId}</code>. This browser does not store the key, but a sign-in of its own.
          </>
        )}
      </p>
      <SignIns />
      {admin && <AnotherDevice />}
      <SignOut />
    </div>
  );
}

function AnotherDevice() {
  const link = useMutation({ mutationFn: () => call<ConsoleLink>("POST", "/console/links") });
  const local = /^(localhost|127\.|\[::1\])/.test(location.host);
  return (
    <section aria-labelledby="another" className="flex flex-col items-start gap-3">
      <h3 id="another" className="text-lg font-semibold">
        Sign in on another device
      </h3>
      <p className="text-soft">A link opens the console once, as an admin. Do not share it.</p>
      <Button icon={<MonitorSmartphone aria-hidden className="size-4" />} busy={link.isPending} onClick={() => link.mutate()}>
        {link.data === undefined ? "Create link" : "Create another link"}
      </Button>
      {link.isError && <Failed error={link.error} />}
      {link.data !== undefined && (
        <div role="status" className="flex w-full min-w-0 flex-col gap-2">
          <Copyable name="works once" text={link.data.url} />
          {link.data.expiresAt !== null && <Left until={link.data.expiresAt} />}
          {local && <p className="text-sm text-warn">This address works only on this machine. To sign in on another device, open the console under the server's name and create the link there.</p>}
        </div>
      )}
    </section>
  );
}

function Left({ until }: { until: string }) {
  const left = Date.parse(until) - useNow();
  return <p className="text-sm text-soft tabular-nums">{left > 0 ? `Expires in ${duration(left)}.` : "Expired. Create another link."}</p>;
}

function SignOut() {
  const out = useMutation({
    mutationFn: signOut,
    // The page reloads: nothing remains in memory.
    onSuccess: (next) => location.assign(next),
  });
  return (
    <section aria-labelledby="out" className="flex flex-col items-start gap-3">
      <h3 id="out" className="text-lg font-semibold">
        Sign out
      </h3>
      <p className="text-soft">“Sign out everywhere” also signs out all other browsers that signed in with the same key, with a link if you used one, or as you with an account. A key itself remains valid.</p>
      <div className="flex flex-wrap gap-2">
        <Button icon={<LogOut aria-hidden className="size-4" />} busy={out.isPending && !out.variables} disabled={out.isPending} onClick={() => out.mutate(false)}>
          Sign out
        </Button>
        <Button tone="danger" busy={out.isPending && out.variables} disabled={out.isPending} onClick={() => out.mutate(true)}>
          Sign out everywhere
        </Button>
      </div>
      {out.isError && <Failed error={out.error} />}
    </section>
  );
}
