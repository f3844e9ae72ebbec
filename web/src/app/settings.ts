// The settings of this browser. They contain no secret: the only key is in a cookie that no
// script can read.
import { useSyncExternalStore } from "react";
import { inBrowser } from "./storage";

export interface Settings {
  theme: "system" | "light" | "dark";
  density: "comfortable" | "compact";
  /** Which key sends a message. At first it is Enter, except on touch screens. */
  sendKey: "enter" | "ctrl-enter";
  /** Whether single letters are commands (WCAG 2.2, 2.1.4). */
  letters: boolean;
  /** Whether the browser shows notifications. */
  notifications: boolean;
}

const touched = typeof matchMedia === "function" && matchMedia("(pointer: coarse)").matches;
const initial: Settings = { theme: "system", density: "comfortable", sendKey: touched ? "ctrl-enter" : "enter", letters: true, notifications: false };
const key = "shoal.settings";
let settings = read();
const listeners = new Set<() => void>();

function read(): Settings {
  try {
    return { ...initial, ...(JSON.parse(inBrowser.getItem(key) ?? "{}") as Partial<Settings>) };
  } catch {
    return initial;
  }
}

/** Changes settings, in all tabs. */
export function change(some: Partial<Settings>): void {
  settings = { ...settings, ...some };
  inBrowser.setItem(key, JSON.stringify(settings));
  notifyListeners();
}

function notifyListeners(): void {
  applyTheme();
  for (const fn of listeners) fn();
}

/** Applies the theme and the density to the page. */
export function applyTheme(): void {
  const dark = settings.theme === "dark" || (settings.theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.documentElement.dataset.density = settings.density;
}

/** Applies the theme again when the system or another tab changes it. */
export function watchTheme(): void {
  applyTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", notifyListeners);
  window.addEventListener("storage", (event) => {
    if (event.key !== key) return;
    settings = read();
    notifyListeners();
  });
}

function subscribe(fn: () => void): () => void {
  listeners.add(fn);
  return () => void listeners.delete(fn);
}

export const useSettings = (): Settings => useSyncExternalStore(subscribe, () => settings);
/** The current settings, for code outside of components. */
export const currentSettings = (): Settings => settings;
