// The outbox of the participant that this page acts as.
import { useMemo, useSyncExternalStore } from "react";
import { api } from "@/api/client";
import { entityHeader, type Message } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useLive } from "@/live/hooks";
import type { Store } from "@shoal-dev/client/live";
import { notify } from "@/ui/notice";
import { Outbox, type Outgoing, type Post } from "./outbox";
import { browserStorage } from "./outbox-storage";

const boxes = new Map<string, Outbox>();

/** The outbox of the session and the acting entity; the same one as long as the tab lives. */
export function useOutbox(): Outbox {
  const { session, actor, admin } = useConsole();
  const store = useLive();
  return useMemo(() => {
    const name = `shoal.outbox.${session}.${actor ?? ""}`;
    const held = boxes.get(name) ?? new Outbox(posting(session, admin ? actor : null, store), browserStorage(name));
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

function posting(session: string, as: string | null, store: Store): Post {
  return {
    send: (o) =>
      api.POST("/v1/sessions/{session}/spaces/{space}/messages", {
        // It is sent as its author, even if the page acts as another participant by then.
        params: { path: { session, space: o.space } },
        headers: { "Idempotency-Key": o.key, ...(as === null ? {} : { [entityHeader]: as }) },
        body: { ...words(o), mentions: [...o.mentions], ...(o.replyTo === undefined ? {} : { replyTo: o.replyTo }) },
      }),
    async stored(m) {
      const name = (id: string) => store.live.entities.get(id)?.name ?? id;
      for (const id of m.skippedAgents ?? []) notify(`${name(id)} is at work and has not taken this message.`);
      for (const r of m.reach ?? [])
        if (r.knownAt !== undefined) notify(`Not known yet whether it wakes ${name(r.entityId)}: the server has just started.`);
        else if (r.state === "asleep" || r.state === "unknown") notify(`Not reached: ${name(r.entityId)} (${r.text}).`);
      await shown(store, m);
    },
    pause: (n) => serverBack(store, Math.min(1000 * 2 ** n, 30_000)),
  };
}

function words(o: Outgoing) {
  if (o.files.length === 0) return { text: o.text };
  const files = o.files.map((f) => ({ type: "file" as const, ...f }));
  return { parts: o.text === "" ? files : [{ type: "text" as const, text: o.text }, ...files] };
}

// The stream delivers it as well; whichever comes first shows it.
async function shown(store: Store, m: Message): Promise<void> {
  if (store.live.messages.has(m.id)) return;
  await new Promise<void>((resolve) => {
    const stop = store.subscribe(`message:${m.id}`, done);
    const late = setTimeout(done, 3000);
    function done() {
      clearTimeout(late);
      stop();
      resolve();
    }
    store.share([{ type: "message.created", message: m, spaceId: m.spaceId, runId: null, at: m.createdAt }]);
  });
}

// Ends after `most` ms, or when the connection to the server stands again.
function serverBack(store: Store, most: number): Promise<void> {
  return new Promise((resolve) => {
    let away = store.connection.state !== "live";
    const stop = store.subscribe("connection", () => {
      const live = store.connection.state === "live";
      if (live && away) done();
      away = !live;
    });
    const timer = setTimeout(done, most);
    function done() {
      clearTimeout(timer);
      stop();
      resolve();
    }
  });
}
