// Goes to the message that the address asks for.
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Message } from "@/client/types";
import { useConsole } from "@/app/console";
import { useLive } from "@/live/hooks";
import { notify } from "@/ui/notice";
import { loadAround } from "./pages";
import { around, type View } from "./view";

interface Jump {
  readonly space: string;
  readonly seq: number | undefined;
  readonly messages: readonly Message[];
  readonly setView: (v: View) => void;
  readonly column: RefObject<HTMLElement | null>;
  readonly toEnd: () => void;
}

/** Loads what stands round the asked message, shows it, and returns its id. */
export function useJump({ space, seq, messages, setView, column, toEnd }: Jump): string | undefined {
  const { session } = useConsole();
  const store = useLive();
  const [target, setTarget] = useState<string>();
  const due = useRef<string | undefined>(undefined);
  const asked = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (asked.current === seq) return;
    const before = asked.current;
    asked.current = seq;
    if (seq === undefined) {
      setTarget(undefined);
      if (before !== undefined) toEnd();
      return;
    }
    const show = (all: readonly Message[]): boolean => {
      const found = all.find((m) => m.seq === seq);
      if (found === undefined) return false;
      setView(around(all.map((m) => m.seq), seq));
      due.current = found.id;
      setTarget(found.id);
      return true;
    };
    if (show(messages)) return;
    const here = () => (store.live.spaces.get(space)?.order ?? []).flatMap((id) => store.live.messages.get(id) ?? []);
    loadAround(store, session, space, seq).then(
      () => asked.current === seq && !show(here()) && notify(`There is no message ${seq} in this space.`, true),
      () => notify(`Message ${seq} could not be loaded.`, true),
    );
  }, [seq, messages, setView, session, space, store, toEnd]);
  useLayoutEffect(() => {
    const element = due.current === undefined ? null : column.current?.querySelector<HTMLElement>(`[data-message="${CSS.escape(due.current)}"]`);
    if (element == null) return;
    due.current = undefined;
    // Messages off the screen have their real height only once they are near it.
    const center = () => element.scrollIntoView({ block: "center" });
    center();
    element.focus({ preventScroll: true });
    requestAnimationFrame(() => {
      center();
      requestAnimationFrame(center);
    });
  });
  return target;
}
