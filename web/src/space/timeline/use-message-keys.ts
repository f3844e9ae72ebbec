// Moving between messages by keys: one of them at a time is where the Tab key
// enters the timeline.
import { type FocusEvent, type RefObject, useCallback, useState } from "react";
import { useShortcut } from "@/app/shortcuts";

/** J and K move the focus from message to message; End goes to the newest. */
export function useMessageKeys(column: RefObject<HTMLElement | null>, toEnd: () => void) {
  const [current, setCurrent] = useState<string>();
  const move = (by: 1 | -1) => {
    const all = [...(column.current?.querySelectorAll<HTMLElement>("[data-message]") ?? [])];
    const at = all.findIndex((each) => each.contains(document.activeElement));
    const known = at >= 0 ? at : all.findIndex((each) => each.dataset.message === current);
    const to = known >= 0 ? all[known + by] : all[all.length - 1];
    to?.focus();
    to?.scrollIntoView({ block: "nearest" });
  };
  useShortcut("J", "Next message", () => move(1));
  useShortcut("K", "Previous message", () => move(-1));
  useShortcut("End", "Newest message", () => {
    toEnd();
    // The newest may have to be mounted first.
    requestAnimationFrame(() => {
      const all = column.current?.querySelectorAll<HTMLElement>("[data-message]");
      all?.[all.length - 1]?.focus({ preventScroll: true });
    });
  });
  // These press a button of the message that has the focus.
  const press = (action: "reply" | "edit" | "more") => {
    const button = document.activeElement?.closest("[data-message]")?.querySelector<HTMLElement>(`[data-action="${action}"]`);
    button?.click();
    return button !== undefined && button !== null;
  };
  useShortcut("R", "Reply to the selected message, or write a message", () => {
    if (!press("reply")) document.querySelector<HTMLElement>("[data-composer]")?.focus();
  });
  useShortcut("E", "Edit the selected message", () => void press("edit"));
  useShortcut("M", "All actions of the selected message", () => void press("more"));
  const onFocus = useCallback((event: FocusEvent) => {
    setCurrent((event.target as HTMLElement).closest<HTMLElement>("[data-message]")?.dataset.message);
  }, []);
  return { current, onFocus };
}
