// Keyboard shortcuts. Components register theirs while they are mounted, and "?" lists all
// of them. Single letters do nothing while a person types, and can be switched off.
import { useEffect, useRef } from "react";
import { currentSettings } from "./settings";

/** One shortcut: "Ctrl+K", "/", "g i", "Shift+N". No single key approves anything. */
export interface Shortcut {
  readonly keys: string;
  readonly about: string;
  readonly run: () => void;
}

const registered = new Set<{ current: Shortcut }>();
let before = "";
let beforeAt = 0;

/** Registers a shortcut while the component is mounted. */
export function useShortcut(keys: string, about: string, run: () => void): void {
  const ref = useRef<Shortcut>({ keys, about, run });
  ref.current = { keys, about, run };
  useEffect(() => {
    registered.add(ref);
    return () => void registered.delete(ref);
  }, []);
}

/** All shortcuts that work at the moment. */
export function shortcuts(): Shortcut[] {
  return [...registered].map((r) => r.current);
}

/** Starts to listen. Call it once. */
export function listenToKeys(): void {
  window.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const pressed = name(event);
    // Keys without Ctrl or Alt belong to an open dialog and, except F6 and the like, to
    // text fields.
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const typed = typing(event.target) && !/^F\d+$/.test(event.key);
    if (plain && (typed || document.querySelector("dialog[open]") !== null)) return;
    if (plain && pressed.replace("Shift+", "").length === 1 && !currentSettings().letters) return;
    const pair = event.timeStamp - beforeAt < 1200 ? `${before} ${pressed.toLowerCase()}` : "";
    before = pressed.toLowerCase();
    beforeAt = event.timeStamp;
    const found = match(pair) ?? match(pressed);
    if (found === undefined) return;
    event.preventDefault();
    before = "";
    found.run();
  });
}

/** Runs what these keys do on the page, from a field that does not keep them for itself. */
export function runShortcut(keys: string): void {
  match(keys)?.run();
}

function match(pressed: string): Shortcut | undefined {
  if (pressed === "") return undefined;
  // The newest registration wins: a dialog's before the page's.
  return shortcuts().reverse().find((s) => s.keys.toLowerCase() === pressed.toLowerCase());
}

function name(event: KeyboardEvent): string {
  const modified = event.ctrlKey || event.metaKey ? "Ctrl+" : event.altKey ? "Alt+" : "";
  const letter = event.key.length === 1 && /[a-z]/i.test(event.key);
  // Shift is part of a character such as "?". It is named for letters and named keys.
  return modified + (event.shiftKey && (letter || event.key.length > 1) ? "Shift+" : "") + (letter ? event.key.toUpperCase() : event.key);
}

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));
}
