// The sections of the space list and the order in them. Pure.
import { compare, type SpaceRow } from "./order";

/** How the spaces of a section are ordered. */
export type SpaceOrder = "name" | "recent";

/** What a reader sees of their spaces, from top to bottom. */
export interface Sections {
  /** Something is unread or waits for an answer. */
  readonly unread: readonly SpaceRow[];
  readonly pinned: readonly SpaceRow[];
  readonly rest: readonly SpaceRow[];
}

const names = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/** Compares names as people do: "Hall 2" is before "Hall 10". */
export const byName = (a: string, b: string): number => names.compare(a, b);

/** Whether a space wants its reader. */
export const isUnread = (r: SpaceRow): boolean => r.space.unreadCount > 0 || r.waiting > 0;

/**
 * Divides the rows into sections. The space that is open stays where `current` says it was
 * when the reader opened it, so that reading it does not move it.
 */
export function sections(rows: readonly SpaceRow[], order: SpaceOrder, pinned: ReadonlySet<string>, current?: { readonly id: string; readonly unread: boolean }): Sections {
  const sorted = [...rows].sort((a, b) => (order === "name" ? 0 : compare(b.at, a.at)) || byName(a.space.name, b.space.name) || compare(a.space.id, b.space.id));
  const unread = (r: SpaceRow) => (r.space.id === current?.id ? current.unread : isUnread(r));
  const rest = sorted.filter((r) => !unread(r));
  return { unread: sorted.filter(unread), pinned: rest.filter((r) => pinned.has(r.space.id)), rest: rest.filter((r) => !pinned.has(r.space.id)) };
}

/** The sections with current rows, each space where it was in `before`. Spaces that are new come last. */
export function inPlace(now: Sections, before: Sections): Sections {
  const rows = new Map([...now.unread, ...now.pinned, ...now.rest].map((r) => [r.space.id, r]));
  const placed = new Set<string>();
  const keep = (old: readonly SpaceRow[]) => old.flatMap((r) => {
    const row = rows.get(r.space.id);
    if (row !== undefined) placed.add(r.space.id);
    return row ?? [];
  });
  const unread = keep(before.unread);
  const pinned = keep(before.pinned);
  const rest = keep(before.rest);
  return { unread, pinned, rest: [...rest, ...[...rows.values()].filter((r) => !placed.has(r.space.id))] };
}
