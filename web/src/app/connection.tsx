// The state of the connection to the server: an indicator, and a banner while it is
// interrupted.
import { useQueryClient } from "@tanstack/react-query";
import { Wifi, WifiOff } from "lucide-react";
import { useConnection } from "@/live/hooks";
import { retryNow } from "@/live/store";
import { Button } from "@/ui/button";
import { duration, useNow } from "@/ui/time";
import { callerKey } from "./identity";

/** The indicator: live, connecting or offline. */
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

/** The banner says what is disabled while the server is unreachable, and for how long it has been. */
export function ConnectionBanner() {
  const connection = useConnection();
  const queries = useQueryClient();
  if (connection.state === "offline") return <Offline since={connection.since} />;
  if (connection.state === "signed-out") {
    return (
      <Banner>
        <span>Signed out: the key was revoked or has expired.</span>
        <Button small onClick={() => void queries.invalidateQueries({ queryKey: callerKey })}>
          Sign in
        </Button>
      </Banner>
    );
  }
  if (connection.state === "gone") return <Banner>{connection.detail}</Banner>;
  return null;
}

// Most interruptions are over before anybody could read about them.
const minOutage = 1500;

function Offline({ since }: { since: number }) {
  const now = useNow(500);
  if (now - since < minOutage) return null;
  return (
    <Banner>
      <span>Server unreachable for {duration(now - since)}. You can read; approvals wait until it's back.</span>
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
