// Reports to the server what the participant has read: what was on the screen of a visible
// tab for a second, without skipping anything. `Esc` and a button report the rest.
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { api } from "@/api/client";
import { ShoalError, type Space } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useLive } from "@/live/hooks";
import type { Store } from "@shoal-dev/client/live";
import { notify } from "@/ui/notice";
import { isMember } from "../order";
import { hold, isHeld, release } from "./marked-unread";
import { readUpTo, Seen } from "./unread";
import { useVisible } from "./use-visible";

/** How often the screen is sampled, in ms. */
const interval = 250;

/** The seqs of the first and the last message on the screen. */
export interface OnScreen {
  readonly top: number;
  readonly bottom: number;
}

/** Reports what is read in a space while the component is mounted; returns what is on the screen while something is unread. */
export function useReading(space: Space, scroller: RefObject<HTMLElement | null>): OnScreen | undefined {
  const { session, actor } = useConsole();
  const store = useLive();
  const visible = useVisible();
  const [onScreen, setOnScreen] = useState<OnScreen>();
  const seen = useRef(new Seen());
  const unread = space.unreadCount > 0 && isMember(space, actor);
  const { id } = space;
  useHold(store, id);
  useEffect(() => {
    if (!unread || !visible) return;
    let underWay = false;
    const sample = () => {
      const shown = scroller.current === null || isCovered() ? [] : messagesOnScreen(scroller.current);
      const here = shown.flatMap((each) => store.live.messages.get(each) ?? []);
      // A message that is still being written is not read yet.
      seen.current.sample(here.filter((m) => m.status !== "streaming").map((m) => m.id), performance.now());
      const [top, bottom] = [here[0]?.seq ?? 0, here[here.length - 1]?.seq ?? 0];
      setOnScreen((before) => (before?.top === top && before.bottom === bottom ? before : { top, bottom }));
      const now = store.live.spaces.get(id)?.space;
      if (underWay || now === undefined || now.firstUnreadSeq === 0 || store.connection.state !== "live" || isHeld(id)) return;
      const upTo = readUpTo(store.live.messagesIn(id), now.firstUnreadSeq, actor, seen.current.ids);
      if (upTo === undefined) return;
      underWay = true;
      // If it fails, the messages stay unread and the next sample tries again.
      void markRead(store, session, id, upTo).catch(() => undefined).finally(() => (underWay = false));
    };
    sample();
    const timer = setInterval(sample, interval);
    return () => clearInterval(timer);
  }, [unread, visible, id, session, actor, store, scroller]);
  return unread ? onScreen : undefined;
}

// Somebody has marked messages as unread if one that was read is unread again, here or in
// another tab: nothing is reported then until the reader leaves.
function useHold(store: Store, id: string): void {
  useEffect(() => {
    const read = new Set<string>();
    const compare = () => {
      const first = store.live.spaces.get(id)?.space.firstUnreadSeq ?? 0;
      for (const m of store.live.messagesIn(id)) {
        if (m.status === "streaming" || (first > 0 && m.seq > first)) continue;
        if (m.seq !== first) read.add(m.id);
        else if (read.has(m.id)) hold(id);
      }
    };
    compare();
    const stop = store.subscribe(`space:${id}`, compare);
    return () => {
      stop();
      release(id);
    };
  }, [store, id]);
}

/** Marks a whole space as read for the acting participant. */
export function useMarkAllRead(space: Space): () => void {
  const { session } = useConsole();
  const store = useLive();
  return useCallback(() => {
    release(space.id);
    markRead(store, session, space.id, space.lastSeq).catch((error: unknown) => notify(`Not marked as read: ${ShoalError.from(error).message}`, true));
  }, [store, session, space.id, space.lastSeq]);
}

async function markRead(store: Store, session: string, space: string, seq: number): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const before = store.live.spaces.get(space)?.space.unreadCount;
    const read = await api.POST("/v1/sessions/{session}/spaces/{space}/read", { params: { path: { session, space } }, body: { seq } });
    // The answer may not count messages that arrived meanwhile: ask again, now or later.
    if (store.live.spaces.get(space)?.space.unreadCount !== before) continue;
    store.share([{ type: "local.read", space: read }]);
    return;
  }
}

// Nobody reads what is under a dialog.
const isCovered = () => document.querySelector("dialog:modal") !== null;

/** The ids of the messages of which at least half is on the screen, or that fill half of it. */
function messagesOnScreen(scroller: HTMLElement): string[] {
  const box = scroller.getBoundingClientRect();
  const ids: string[] = [];
  for (const element of scroller.querySelectorAll<HTMLElement>("[data-message]")) {
    const r = element.getBoundingClientRect();
    if (r.top >= box.bottom) break;
    const shown = Math.min(r.bottom, box.bottom) - Math.max(r.top, box.top);
    if (shown > 0 && shown >= Math.min(r.height, box.height) / 2) ids.push(element.dataset.message ?? "");
  }
  return ids;
}
