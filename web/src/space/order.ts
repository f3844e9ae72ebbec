// In which order spaces are wanted: what waits for the reader first, then what
// mentions them, then what is unread, then what is recent.
import type { Message, PendingAction, Space } from "@shoal-dev/client";

/** A space with what its line in a list says. */
export interface SpaceRow {
  readonly space: Space;
  /** How many pending actions in it are open. */
  readonly waiting: number;
  /** When something was last said in it. */
  readonly at: string;
  /** Whether the reader is a member; admins see other spaces as well. */
  readonly member: boolean;
}

/** The rows of all spaces. `newest` gives a space's newest message, if it is here. */
export function rows(spaces: readonly Space[], pending: readonly PendingAction[], actor: string | null, newest: (space: string) => Message | undefined): SpaceRow[] {
  const waiting = new Map<string, number>();
  for (const p of pending) {
    if (p.status === "open" && p.spaceId !== null) waiting.set(p.spaceId, (waiting.get(p.spaceId) ?? 0) + 1);
  }
  return spaces.map((space) => ({
    space,
    waiting: waiting.get(space.id) ?? 0,
    at: newest(space.id)?.createdAt ?? space.createdAt,
    member: isMember(space, actor),
  }));
}

/** Whether an entity is a member of a space. */
export function isMember(space: Space, entity: string | null): boolean {
  return entity !== null && space.members.some((m) => m.entityId === entity);
}

/** Sorts rows by how much they are wanted, the most wanted first. */
export function byWant(a: SpaceRow, b: SpaceRow): number {
  return want(b) - want(a) || compare(b.at, a.at) || compare(a.space.id, b.space.id);
}

/**
 * Compares ids, or times: they are RFC 3339 in UTC with milliseconds, so the order of the
 * texts is the order in time.
 */
export const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

function want(row: SpaceRow): number {
  if (row.waiting > 0) return 3;
  if (row.space.mentionCount > 0) return 2;
  return row.space.unreadCount > 0 ? 1 : 0;
}

/** The rows of a list, in three groups, each in its order. */
export interface Groups {
  /** Open, and the reader is a member. */
  readonly own: readonly SpaceRow[];
  /** Open, and the reader only looks. */
  readonly others: readonly SpaceRow[];
  readonly closed: readonly SpaceRow[];
}

/** Groups rows for a list. A reader who acts as no participant sees all spaces in one group. */
export function grouped(all: readonly SpaceRow[], actor: string | null): Groups {
  const sorted = [...all].sort(byWant);
  const open = sorted.filter((r) => r.space.status === "open");
  const mine = (r: SpaceRow) => actor === null || r.member;
  return { own: open.filter(mine), others: open.filter((r) => !mine(r)), closed: sorted.filter((r) => r.space.status === "closed") };
}

/**
 * The space to go to from `current`: the next one with something unread, or with a
 * mention, round the list. Undefined if no row qualifies.
 */
export function nextWanted(own: readonly SpaceRow[], current: string | undefined, mentions: boolean): string | undefined {
  const at = own.findIndex((r) => r.space.id === current);
  const round = [...own.slice(at + 1), ...own.slice(0, Math.max(at, 0))];
  return round.find((r) => (mentions ? r.space.mentionCount : r.space.unreadCount) > 0)?.space.id;
}
