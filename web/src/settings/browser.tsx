// What this browser is signed in with, signing in on another device, signing out.
import { useMutation } from "@tanstack/react-query";
import { LogOut, MonitorSmartphone } from "lucide-react";
import { call } from "@/api/client";
import { useConsole } from "@/app/console";
import { signOut } from "@/app/signed";
import { Copyable } from "@/connect/copyable";
import { Button } from "@/ui/button";
import { Failed } from "@/ui/shown";
import { duration, useNow } from "@/ui/time";
import { openKey } from "./own-key";

interface ConsoleLink {
  readonly url: string;
  /** Until when it works; null where nobody has to sign in. */
  readonly expiresAt: string | null;
}

/** The part on the sign-in of this browser. */
export function Browser() {
  const { me, admin } = useConsole();
  if (me.keyId === openKey) {
    return <p>This server was started with --auth off: whoever reaches it is an admin, and nobody signs in. It listens on this machine only.</p>;
  }
  return (
    <div className="flex max-w-xl flex-col gap-8">
      <p>
        You are signed in with the {me.role} key <code className="font-mono break-all">{me.keyId}</code>. The browser does not keep the key, but a sign-in of its own: one half in a cookie that no script reads, the other with this address alone.
      </p>
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
      <p className="text-soft">A link opens the console once, as an admin. Hand it to nobody else.</p>
      <Button icon={<MonitorSmartphone aria-hidden className="size-4" />} busy={link.isPending} onClick={() => link.mutate()}>
        {link.data === undefined ? "Make a link" : "Make another link"}
      </Button>
      {link.isError && <Failed error={link.error} />}
      {link.data !== undefined && (
        <div role="status" className="flex w-full min-w-0 flex-col gap-2">
          <Copyable name="works once" text={link.data.url} />
          {link.data.expiresAt !== null && <Left until={link.data.expiresAt} />}
          {local && <p className="text-sm text-warn">Its address is one of this machine alone: another device does not reach it. Open the console under the server's name, and make the link there.</p>}
        </div>
      )}
    </section>
  );
}

function Left({ until }: { until: string }) {
  const left = Date.parse(until) - useNow();
  return <p className="text-sm text-soft tabular-nums">{left > 0 ? `Works for another ${duration(left)}.` : "It does not work any more. Make another one."}</p>;
}

function SignOut() {
  const out = useMutation({
    mutationFn: signOut,
    // The page begins anew: nothing of what was read stays in memory.
    onSuccess: () => location.assign("/"),
  });
  return (
    <section aria-labelledby="out" className="flex flex-col items-start gap-3">
      <h3 id="out" className="text-lg font-semibold">
        Sign out
      </h3>
      <p className="text-soft">The second button ends every browser that has signed in with the same key, or, if you came by a link, every browser that came by one. The key itself goes on working.</p>
      <div className="flex flex-wrap gap-2">
        <Button tone="danger" icon={<LogOut aria-hidden className="size-4" />} busy={out.isPending && !out.variables} disabled={out.isPending} onClick={() => out.mutate(false)}>
          Sign out
        </Button>
        <Button busy={out.isPending && out.variables} disabled={out.isPending} onClick={() => out.mutate(true)}>
          Sign out everywhere
        </Button>
      </div>
      {out.isError && <Failed error={out.error} />}
    </section>
  );
}
