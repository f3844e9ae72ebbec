// The last searches of this browser, the newest first.
import { inBrowser } from "@/app/storage";

const key = "shoal.searches";
const most = 8;

/** The last searches, at most eight. */
export function recentSearches(): string[] {
  try {
    const kept: unknown = JSON.parse(inBrowser.getItem(key) ?? "[]");
    return Array.isArray(kept) ? kept.filter((s): s is string => typeof s === "string").slice(0, most) : [];
  } catch {
    return [];
  }
}

/** Adds a search. */
export function rememberSearch(typed: string): void {
  const search = typed.trim();
  if (search === "") return;
  inBrowser.setItem(key, JSON.stringify([search, ...recentSearches().filter((s) => s !== search)].slice(0, most)));
}

/** Removes all searches. */
export function forgetSearches(): void {
  inBrowser.removeItem(key);
}
