// Reports to the server how far the participant has read: up to the newest message, once it is
// on the screen of a visible tab.
import { useEffect, useRef, useState } from "react";
import { api } from "@/api/client";
import type { Space } from "@/client/types";
import { useConsole } from "@/app/console";
import { useLive } from "@/live/hooks";
import { isMember } from "../order";

/** Marks the space as read while `seen`. */
export function useReading(space: Space, seen: boolean): void {
  const { session, actor } = useConsole();
  const store = useLive();
  const underWay = useRef(false);
  const [round, again] = useState(0);
  const unread = space.unreadCount > 0 && isMember(space, actor);
  useEffect(() => {
    if (!seen || !unread || underWay.current) return;
    underWay.current = true;
    const before = store.live.spaces.get(space.id)?.space.unreadCount;
    void api.POST("/v1/sessions/{session}/spaces/{space}/read", { params: { path: { session, space: space.id } }, body: { seq: space.lastSeq } })
      .then((read) => {
        // What came meanwhile may not be counted in the answer: ask once more.
        if (store.live.spaces.get(space.id)?.space.unreadCount === before) store.share([{ type: "local.read", space: read }]);
        else again((n) => n + 1);
      })
      .catch(() => undefined) // It stays unread, and is tried again with the next message.
      .finally(() => {
        underWay.current = false;
      });
  }, [seen, unread, space.id, space.lastSeq, space.unreadCount, session, store, round]);
}
