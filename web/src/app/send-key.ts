// Which key sends what is written, and the words for it.
import type { KeyboardEvent } from "react";
import type { Settings } from "./settings";

/** Reports whether a key sends the message. */
export function sends(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">, sendKey: Settings["sendKey"]): boolean {
  if (event.key !== "Enter" || event.shiftKey || event.altKey) return false;
  return event.ctrlKey || event.metaKey || sendKey === "enter";
}

/** Describes the setting: "Enter sends, Shift+Enter starts a new line". */
export const sendKeyWords: Readonly<Record<Settings["sendKey"], string>> = {
  enter: "Enter sends, Shift+Enter starts a new line",
  "ctrl-enter": "Ctrl+Enter sends, Enter starts a new line",
};
