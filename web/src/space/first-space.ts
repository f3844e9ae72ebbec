// The space that a visit begins in: the one that was open last in this browser, and on the
// first visit the oldest space with something to read, where the server greets.
import { inBrowser } from "@/app/storage";
import { compare, type Groups, type SpaceRow } from "./order";

const key = (session: string, actor: string | null) => `shoal.space.${session}.${actor ?? ""}`;

/** The id of the space that was open last; null on the first visit. */
export const lastSpace = (session: string, actor: string | null): string | null => inBrowser.getItem(key(session, actor));

/** Remembers the space that is open. */
export const keepLastSpace = (session: string, actor: string | null, space: string): void => inBrowser.setItem(key(session, actor), space);

/** The space to begin in; undefined if there is none. */
export function firstSpace({ own, others, closed }: Groups, last: string | null): SpaceRow | undefined {
  const open = own.length > 0 ? own : others;
  const all = [...own, ...others, ...closed];
  return all.find((r) => r.space.id === last) ?? [...open].sort(byGreeting)[0] ?? closed[0];
}

function byGreeting(a: SpaceRow, b: SpaceRow): number {
  const unread = (r: SpaceRow) => Number(r.space.unreadCount > 0);
  return unread(b) - unread(a) || compare(a.space.createdAt, b.space.createdAt);
}
