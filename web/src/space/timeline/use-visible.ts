// Whether the tab is on the screen, and what comes into view of a scroller.
import { type RefObject, useEffect, useRef, useSyncExternalStore } from "react";

const subscribe = (fn: () => void) => {
  document.addEventListener("visibilitychange", fn);
  return () => document.removeEventListener("visibilitychange", fn);
};

/** Whether somebody can see this tab. */
export const useVisible = () => useSyncExternalStore(subscribe, () => document.visibilityState === "visible");

/**
 * Calls `seen` when the element is within a screen of what the scroller shows, and
 * again after each change of `again` while it still is. `above` says whether the
 * element lies in the upper half.
 */
export function useNear(element: RefObject<Element | null>, scroller: RefObject<Element | null>, seen: (above: boolean) => void, again: unknown): void {
  const latest = useRef(seen);
  latest.current = seen;
  useEffect(() => {
    if (element.current === null || typeof IntersectionObserver === "undefined") return;
    const observer = new IntersectionObserver(
      (found) => {
        const last = found[found.length - 1];
        if (last === undefined || !last.isIntersecting) return;
        const middle = last.rootBounds === null ? 0 : last.rootBounds.top + last.rootBounds.height / 2;
        latest.current(last.boundingClientRect.top < middle);
      },
      { root: scroller.current, rootMargin: "400px 0px" },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, scroller, again]);
}
