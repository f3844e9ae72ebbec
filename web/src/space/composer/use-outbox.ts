// The outbox of the participant that this page acts as.
import { useMemo, useSyncExternalStore } from "react";
import { api } from "@/api/client";
import { type Draft, entityHeader } from "@shoal-dev/client";
import { Outbox, type Outgoing, type Post, posting, type Store } from "@shoal-dev/client/live";
import { browserStorage } from "@shoal-dev/react";
import { useConsole } from "@/app/console";
import { useLive } from "@/live/hooks";
import { notify } from "@/ui/notice";

const boxes = new Map<string, Outbox>();

/** The outbox of the session and the acting entity; the same one as long as the tab lives. */
export function useOutbox(): Outbox {
  const { session, actor, admin } = useConsole();
  const store = useLive();
  return useMemo(() => {
    const name = `shoal.outbox.${session}.${actor ?? ""}`;
    const held = boxes.get(name) ?? new Outbox(postingAs(session, admin ? actor : null, store), browserStorage(name));
    boxes.set(name, held);
    return held;
  }, [session, actor, admin, store]);
}

/** The messages on their way to a space. */
export function useOutgoing(space: string): readonly Outgoing[] {
  const box = useOutbox();
  const all = useSyncExternalStore(box.subscribe, box.all);
  return useMemo(() => all.filter((o) => o.space === space), [all, space]);
}

function postingAs(session: string, as: string | null, store: Store): Post {
  const send = (o: Outgoing, body: Draft) =>
    api.POST("/v1/sessions/{session}/spaces/{space}/messages", {
      // It is sent as its author, even if the page acts as another participant by then.
      params: { path: { session, space: o.space } },
      headers: { "Idempotency-Key": o.key, ...(as === null ? {} : { [entityHeader]: as }) },
      body,
    });
  return posting(store, send, (m) => {
    const name = (id: string) => store.live.entities.get(id)?.name ?? id;
    for (const id of m.skippedAgents ?? []) notify(`${name(id)} is at work and has not taken this message.`);
    for (const r of m.reach ?? [])
      if (r.knownAt !== undefined) notify(`Not known yet whether it wakes ${name(r.entityId)}.`);
      else if (r.state === "asleep" || r.state === "unknown") notify(`Not reached: ${name(r.entityId)} (${r.text}).`);
  });
}
