// The members that a space lists: all, or of a large space at most 100 of them.
import type { Member, Space } from "./types.js";

/** Whether a space lists all of its members. Events from before there was a count list all. */
export function listsAll(space: Pick<Space, "members" | "memberCount">): boolean {
  return !(space.members.length < space.memberCount);
}

/** The known members with what an event says of some of them. */
export function mergeMembers(known: readonly Member[], said: readonly Member[]): Member[] {
  const byId = new Map(said.map((m) => [m.entityId, m]));
  return known.map((m) => byId.get(m.entityId) ?? m);
}
