// How much room there is.
import { useSyncExternalStore } from "react";

function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (fn) => {
      const list = matchMedia(query);
      list.addEventListener("change", fn);
      return () => list.removeEventListener("change", fn);
    },
    () => matchMedia(query).matches,
  );
}

/** Whether the navigation is next to the page (Tailwind's `md`). */
export const useWide = () => useMedia("(min-width: 48rem)");
/** Whether a panel has room beside a space (Tailwind's `lg`). */
export const usePanelRoom = () => useMedia("(min-width: 64rem)");
