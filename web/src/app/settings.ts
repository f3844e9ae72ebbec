// The settings of this browser. They contain no secret: the only key is in a cookie that no
// script can read.
import { Stored, useStored } from "./stored";

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
const settings = new Stored("shoal.settings", initial);

/** Changes settings, in all tabs. */
export const change = (some: Partial<Settings>): void => settings.change(some);

/** Applies the theme and the density to the page. */
function applyTheme(): void {
  const { theme, density } = settings.get();
  const dark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.documentElement.dataset.density = density;
}

/** Applies the theme again when a setting, the system or another tab changes it. */
export function watchTheme(): void {
  applyTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyTheme);
  settings.subscribe(applyTheme);
}

export const useSettings = (): Settings => useStored(settings);
/** The current settings, for code outside of components. */
export const currentSettings = settings.get;
