// What a person has set in the space list, stored in the browser: pinned spaces, folded
// sections and the order. All tabs share it.
import { useSyncExternalStore } from "react";
import { inBrowser } from "@/app/storage";
import type { SpaceOrder } from "./sections";

interface Memory {
  readonly order: SpaceOrder;
  /** The folded sections. */
  readonly folded: readonly string[];
  /** The pinned spaces, as "session space". */
  readonly pinned: readonly string[];
}

const key = "shoal.spaces";
const initial: Memory = { order: "name", folded: [], pinned: [] };
let memory = read();
const listeners = new Set<() => void>();

function read(): Memory {
  try {
    return { ...initial, ...(JSON.parse(inBrowser.getItem(key) ?? "{}") as Partial<Memory>) };
  } catch {
    return initial;
  }
}

function change(some: Partial<Memory>): void {
  memory = { ...memory, ...some };
  inBrowser.setItem(key, JSON.stringify(memory));
  for (const fn of listeners) fn();
}

const toggled = (list: readonly string[], entry: string): string[] => (list.includes(entry) ? list.filter((e) => e !== entry) : [...list, entry]);
const pin = (session: string, space: string): string => `${session} ${space}`;

/** Sets the order of the spaces. */
export const setSpaceOrder = (order: SpaceOrder): void => change({ order });
/** Folds a section, or unfolds it. */
export const toggleFolded = (section: string): void => change({ folded: toggled(memory.folded, section) });
/** Pins a space, or unpins it. */
export const togglePinned = (session: string, space: string): void => change({ pinned: toggled(memory.pinned, pin(session, space)) });
/** Reports whether a space is pinned. */
export const isPinned = (m: Memory, session: string, space: string): boolean => m.pinned.includes(pin(session, space));

function subscribe(fn: () => void): () => void {
  const renew = (event: StorageEvent) => {
    if (event.key !== key) return;
    memory = read();
    fn();
  };
  listeners.add(fn);
  window.addEventListener("storage", renew);
  return () => {
    listeners.delete(fn);
    window.removeEventListener("storage", renew);
  };
}

export const useListMemory = (): Memory => useSyncExternalStore(subscribe, () => memory);
