// F6 and Shift+F6 cycle through the panes of a page: navigation, content, panel.
import { useShortcut } from "./shortcuts";

const panes = "nav[aria-label='Main'], main, aside";

/** Moves the focus to the next pane, or to the previous one with -1. */
function step(by: 1 | -1): void {
  const shown = [...document.querySelectorAll<HTMLElement>(panes)].filter((p) => p.offsetParent !== null && p.parentElement?.closest(panes) === null);
  if (shown.length === 0) return;
  const here = shown.findIndex((p) => p.contains(document.activeElement));
  const next = shown[(here + by + shown.length) % shown.length];
  if (next === undefined) return;
  if (!next.hasAttribute("tabindex")) next.tabIndex = -1;
  next.focus();
}

/** Registers the two shortcuts. */
export function usePanes(): void {
  useShortcut("F6", "Go to the next pane", () => step(1));
  useShortcut("Shift+F6", "Go to the previous pane", () => step(-1));
}
