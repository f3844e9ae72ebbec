// How the connection to the server stands: a sign, and a banner while it is cut.
import { useQueryClient } from "@tanstack/react-query";
import { Wifi, WifiOff } from "lucide-react";
import { useConnection } from "@/live/hooks";
import { retryNow } from "@/live/store";
import { Button } from "@/ui/button";
import { duration, useNow } from "@/ui/time";
import { callerKey } from "./identity";

/** A word in the corner: live, connecting, offline. */
export function ConnectionSign() {
  const { state } = useConnection();
  const live = state === "live";
  const Icon = live ? Wifi : WifiOff;
  return (
    <span className={live ? "inline-flex items-center gap-1 text-xs text-ok" : "inline-flex items-center gap-1 text-xs text-warn"}>
      <Icon aria-hidden className="size-3.5" />
      {live ? "live" : state === "connecting" ? "connecting" : "offline"}
    </span>
  );
}

/** Says what cannot be done while the server is away, and how old the page is. */
export function ConnectionBanner() {
  const connection = useConnection();
  const queries = useQueryClient();
  if (connection.state === "offline") return <Offline since={connection.since} />;
  if (connection.state === "signed-out") {
    return (
      <Banner>
        <span>You are signed out: your key was revoked or has expired.</span>
        <Button small onClick={() => void queries.invalidateQueries({ queryKey: callerKey })}>
          Sign in
        </Button>
      </Banner>
    );
  }
  if (connection.state === "gone") return <Banner>{connection.detail}</Banner>;
  return null;
}

// Most cuts are mended before anybody could read about them.
const worthTelling = 1500;

function Offline({ since }: { since: number }) {
  const now = useNow(500);
  if (now - since < worthTelling) return null;
  return (
    <Banner>
      <span>The server does not answer since {duration(now - since)}. You can read on; answers to approvals wait until it is back.</span>
      <Button small onClick={retryNow}>
        Try now
      </Button>
    </Banner>
  );
}

function Banner({ children }: { children: React.ReactNode }) {
  return (
    <div role="status" className="flex flex-wrap items-center justify-center gap-3 border-b border-warn bg-warn-soft px-4 py-2 text-sm text-warn">
      {children}
    </div>
  );
}
