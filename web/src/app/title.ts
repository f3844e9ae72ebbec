// The title of the tab shows how much waits for the person.
import { useEffect } from "react";
import { usePending, useSpaces } from "@/live/hooks";

export function useTitle(): void {
  const waiting = usePending().filter((p) => p.status === "open").length;
  const mentions = useSpaces().reduce((n, s) => n + s.mentionCount, 0);
  useEffect(() => {
    const n = waiting + mentions;
    document.title = n > 0 ? `(${n}) Shoal` : "Shoal";
  }, [waiting, mentions]);
}
