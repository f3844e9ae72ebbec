// The stage of a client that is being connected, from the state of its entity.
import type { Entity } from "@shoal-dev/client";

/** The stages of a client that is being connected. */
export type Stage = "nothing" | "seen" | "waiting";

/**
 * The stage of a client whose key was created at `since` (ms): no call yet, it has made a
 * call, or it is waiting for a mention.
 */
export function stageOf(entity: Entity | undefined, since: number): Stage {
  if (entity === undefined) return "nothing";
  if (entity.state === "waiting") return "waiting";
  const seen = entity.lastSeenAt === null ? 0 : Date.parse(entity.lastSeenAt);
  return seen >= since ? "seen" : "nothing";
}

/** The newer of two states of one entity. */
export function newer(a: Entity | undefined, b: Entity | undefined): Entity | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return (b.lastSeenAt ?? "") > (a.lastSeenAt ?? "") ? b : a;
}
