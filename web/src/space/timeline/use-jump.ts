// Goes to a message that may not be loaded: the one that the address asks for, or the first
// unread one.
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Space } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useLive } from "@/live/hooks";
import { notify } from "@/ui/notice";
import { loadAround } from "./pages";
import { around, type View } from "./view";

interface Jump {
  readonly space: Space;
  /** The seq that the address asks for. */
  readonly seq: number | undefined;
  readonly setView: (v: View) => void;
  readonly column: RefObject<HTMLElement | null>;
  readonly toEnd: () => void;
}

/** Why the timeline goes to a message: the address asks for it, or it is the first unread one. */
type Reason = "asked" | "unread";

interface Jumps {
  /** The message that the address asks for. */
  readonly marked: string | undefined;
  /** Loads what is around a message, and shows it. */
  readonly jump: (seq: number, why: Reason) => void;
  /** Gives up a jump that is still loading or finding its place: the reader goes elsewhere. */
  readonly stay: () => void;
}

/** Goes to the message that the address asks for, else at first to the first unread one. */
export function useJump({ space, seq, setView, column, toEnd }: Jump): Jumps {
  const { session } = useConsole();
  const store = useLive();
  const [marked, setMarked] = useState<string>();
  const due = useRef<{ readonly id: string; readonly why: Reason } | undefined>(undefined);
  const latest = useRef(0);
  const stopPlacing = useRef<() => void>(() => undefined);
  const [, redraw] = useState(0);
  const id = space.id;
  const jump = useCallback(
    (to: number, why: Reason) => {
      const mine = ++latest.current;
      const show = (): boolean => {
        const all = store.live.messagesIn(id);
        const found = all.find((m) => m.seq === to);
        if (found === undefined) return false;
        setView(around(all.map((m) => m.seq), to));
        due.current = { id: found.id, why };
        setMarked(why === "asked" ? found.id : undefined);
        redraw((n) => n + 1); // It may be mounted already.
        return true;
      };
      if (show()) return;
      loadAround(store, session, id, to).then(
        () => latest.current === mine && !show() && notify(`There is no message ${to} in this space.`, true),
        () => latest.current === mine && notify(`Message ${to} could not be loaded.`, true),
      );
    },
    [store, session, id, setView],
  );

  const stay = useCallback(() => {
    latest.current++;
    due.current = undefined;
    stopPlacing.current();
  }, []);

  const asked = useRef<number | null | undefined>(null);
  const firstUnread = space.firstUnreadSeq;
  useEffect(() => {
    if (asked.current === seq) return;
    const before = asked.current;
    asked.current = seq;
    if (seq !== undefined) return jump(seq, "asked");
    setMarked(undefined);
    if (before !== null) {
      stay();
      toEnd();
    } else if (firstUnread > 0) jump(firstUnread, "unread");
  }, [seq, firstUnread, jump, stay, toEnd]);

  useLayoutEffect(() => {
    const to = due.current;
    const element = to === undefined ? null : column.current?.querySelector<HTMLElement>(`[data-message="${CSS.escape(to.id)}"]`);
    if (to === undefined || element == null) return;
    due.current = undefined;
    // The line over the first unread message is on the screen, too.
    const place = () => (to.why === "asked" ? element.scrollIntoView({ block: "center" }) : (element.previousElementSibling ?? element).scrollIntoView({ block: "start" }));
    if (to.why === "asked") element.focus({ preventScroll: true });
    stopPlacing.current();
    stopPlacing.current = placeUntilSettled(element, place);
  });
  useEffect(() => () => stopPlacing.current(), []);
  return { marked, jump, stay };
}

/** How long heights may change after a jump, in ms: messages are measured, and pages load. */
const settling = 3000;
const inputs = ["wheel", "touchstart", "pointerdown", "keydown"] as const;

// Keeps an element in its place while what is around it changes, unless the reader does
// something.
function placeUntilSettled(element: HTMLElement, place: () => void): () => void {
  let frame = 0;
  let top = NaN;
  const end = performance.now() + settling;
  const again = () => {
    if (element.getBoundingClientRect().top !== top) {
      place();
      top = element.getBoundingClientRect().top;
    }
    if (performance.now() < end && element.isConnected) frame = requestAnimationFrame(again);
    else stop();
  };
  const stop = () => {
    cancelAnimationFrame(frame);
    for (const input of inputs) window.removeEventListener(input, stop, true);
  };
  for (const input of inputs) window.addEventListener(input, stop, { capture: true, passive: true });
  again();
  return stop;
}
