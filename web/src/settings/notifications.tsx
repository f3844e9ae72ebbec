// Notifications in this browser, and the list of the browsers that show them.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useConsole } from "@/app/console";
import { change, useSettings } from "@/app/settings";
import { pushes, remove, subscribe, subscriptions, subscriptionsKey, unsubscribe, useSubscription } from "@/offline/push";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { CheckField } from "@/ui/field";
import { Failed } from "@/ui/placeholder";
import { Moment } from "@/ui/time";

/** The switch for this browser, and the browsers that notify the reader. */
export function Notifications() {
  const { session, actor, me } = useConsole();
  const { notifications } = useSettings();
  const own = useSubscription();
  const queries = useQueryClient();
  const there = typeof Notification !== "undefined";
  const toggle = useMutation({
    mutationFn: async (on: boolean) => {
      if (!on) {
        change({ notifications: false });
        return unsubscribe();
      }
      // The browser asks once. After a refusal only its own settings help.
      if ((await Notification.requestPermission()) !== "granted") return;
      change({ notifications: true });
      if (!pushes() || actor === null) return;
      await subscribe(session, actor, me.signInId ?? me.keyId);
      change({ notifications: false }); // the service worker shows them, with and without a page
    },
    onSettled: () => queries.invalidateQueries({ queryKey: subscriptionsKey(session, actor) }),
  });
  if (!there) return <p className="text-sm text-soft">This browser does not support notifications.</p>;
  const refused = Notification.permission === "denied";
  const on = (own !== "" || notifications) && Notification.permission === "granted";
  return (
    <>
      <CheckField
        label="Notify me on this device"
        hint="You are notified of mentions and requests: who and in which space, never the text. Muted spaces stay silent."
        checked={on}
        disabled={refused || toggle.isPending}
        onChange={(e) => toggle.mutate(e.target.checked)}
      />
      {refused && <p className="text-sm text-warn">This browser blocks notifications from this page. Allow them in the browser's settings for this address, then reload.</p>}
      {on && own === "" && !toggle.isPending && <p className="text-sm text-warn">Only while a page of Shoal is open{toggle.isError ? ": this browser could not subscribe at its push service." : "."}</p>}
      {actor !== null && <Devices session={session} actor={actor} own={own} />}
    </>
  );
}

function Devices({ session, actor, own }: { session: string; actor: string; own: string }) {
  const queries = useQueryClient();
  const queryKey = subscriptionsKey(session, actor);
  const found = useQuery({ queryKey, queryFn: () => subscriptions(session) });
  const removing = useMutation({
    mutationFn: (id: string) => (id === own ? unsubscribe() : remove(session, id)),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  if (!found.isSuccess || found.data.items.length === 0) return null;
  return (
    <div className="mt-3 flex w-full flex-col gap-2">
      <h3 id="devices" className="font-semibold">
        Devices that notify you
      </h3>
      <ul aria-labelledby="devices" className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
        {found.data.items.map((s) => (
          <li key={s.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
            <div className="min-w-0 flex-1 basis-60">
              <p className="flex flex-wrap items-center gap-2">
                <span className="min-w-0 font-medium break-words">{s.device === "" ? "Unknown device" : s.device}</span>
                {s.id === own && <Badge tone="accent">this browser</Badge>}
              </p>
              <p className="text-sm text-soft">
                {s.lastSentAt === null ? (
                  <>
                    added <Moment at={s.createdAt} />
                  </>
                ) : (
                  <>
                    notified <Moment at={s.lastSentAt} />
                  </>
                )}
              </p>
            </div>
            <Button small tone="danger" busy={removing.isPending && removing.variables === s.id} onClick={() => removing.mutate(s.id)} aria-label={`Remove ${s.device === "" ? "unknown device" : s.device}`}>
              Remove
            </Button>
          </li>
        ))}
      </ul>
      {removing.isError && <Failed error={removing.error} />}
    </div>
  );
}
