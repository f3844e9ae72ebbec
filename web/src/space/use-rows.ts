// The rows of the space list, renewed when a space or what waits in one changes.
import { useMemo } from "react";
import { useConsole } from "@/app/console";
import { useLive, usePending, useSpaces } from "@/live/hooks";
import { type Groups, grouped, isMember, rows } from "./order";

/** All spaces of the session that the reader sees, grouped and in their order. */
export function useGroups(): Groups {
  const { actor, may } = useConsole();
  const store = useLive();
  const spaces = useSpaces();
  const pending = usePending();
  return useMemo(() => {
    const newest = (id: string) => {
      const order = store.live.spaces.get(id)?.order;
      return store.live.messages.get(order?.[order.length - 1] ?? "");
    };
    // Who left a space sees it no more, unless their role sees every space.
    const seen = may("see_everything") ? spaces : spaces.filter((s) => isMember(s, actor));
    return grouped(rows(seen, pending, actor, newest), actor);
  }, [store, spaces, pending, actor, may]);
}
