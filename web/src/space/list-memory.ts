// What a person has set in the space list, stored in the browser: pinned spaces, folded
// sections and the order. All tabs share it.
import { Stored, useStored } from "@/app/stored";
import type { SpaceOrder } from "./sections";

interface Memory {
  readonly order: SpaceOrder;
  /** The folded sections. */
  readonly folded: readonly string[];
  /** The pinned spaces, as "session space". */
  readonly pinned: readonly string[];
}

const memory = new Stored<Memory>("shoal.spaces", { order: "name", folded: [], pinned: [] });

const toggled = (list: readonly string[], entry: string): string[] => (list.includes(entry) ? list.filter((e) => e !== entry) : [...list, entry]);
const pin = (session: string, space: string): string => `${session} ${space}`;

/** Sets the order of the spaces. */
export const setSpaceOrder = (order: SpaceOrder): void => memory.change({ order });
/** Folds a section, or unfolds it. */
export const toggleFolded = (section: string): void => memory.change({ folded: toggled(memory.get().folded, section) });
/** Pins a space, or unpins it. */
export const togglePinned = (session: string, space: string): void => memory.change({ pinned: toggled(memory.get().pinned, pin(session, space)) });
/** Reports whether a space is pinned. */
export const isPinned = (m: Memory, session: string, space: string): boolean => m.pinned.includes(pin(session, space));

/** What is set, in a component. */
export const useListMemory = (): Memory => useStored(memory);
