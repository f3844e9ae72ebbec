// Where the reader is in a timeline. Its scroller is a reverse column with one
// child: at 0 it shows the newest message and stays there while the content grows;
// scrolled up (below 0) the browser's scroll anchoring keeps what is on the screen,
// and where a browser has none, this does.
import { type RefObject, useCallback, useEffect, useState } from "react";

/** So near to the end, in px, counts as there. */
const near = 32;
/** Within this distance of the end, the timeline follows new content. */
const touching = 4;

/** The reader's place. */
export interface Bottom {
  /** The newest message is on the screen. */
  readonly there: boolean;
  /** Goes there at once. */
  go(): void;
}

/** Watches a scroller and its content. */
export function useBottom(scroller: RefObject<HTMLElement | null>, content: RefObject<HTMLElement | null>): Bottom {
  const [there, setThere] = useState(true);
  useEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (box === null || inner === null) return;
    let anchor: Anchor | undefined;
    const look = () => {
      setThere(box.scrollTop > -near);
      anchor = anchors ? undefined : anchorIn(box);
    };
    const grown = new ResizeObserver(() => {
      if (box.scrollTop > -touching) box.scrollTop = 0;
      else if (anchor?.element.isConnected === true) box.scrollTop += anchor.element.getBoundingClientRect().top - anchor.top;
      look();
    });
    box.addEventListener("scroll", look, { passive: true });
    grown.observe(inner);
    grown.observe(box);
    return () => {
      box.removeEventListener("scroll", look);
      grown.disconnect();
    };
  }, [scroller, content]);
  const go = useCallback(() => {
    if (scroller.current !== null) scroller.current.scrollTop = 0;
    setThere(true);
  }, [scroller]);
  return { there, go };
}

// Whether the browser keeps the place by itself.
const anchors = typeof CSS !== "undefined" && typeof CSS.supports === "function" && CSS.supports("overflow-anchor", "auto");

interface Anchor {
  readonly element: Element;
  readonly top: number;
}

// The first message whose end is on the screen.
function anchorIn(box: HTMLElement): Anchor | undefined {
  const edge = box.getBoundingClientRect().top;
  for (const element of box.querySelectorAll("[data-message]")) {
    const r = element.getBoundingClientRect();
    if (r.bottom > edge) return { element, top: r.top };
  }
  return undefined;
}
