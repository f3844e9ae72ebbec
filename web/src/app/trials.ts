// Trials of drafts have an agent and a space of their own, which no list shows.
import type { Entity, Space } from "@shoal-dev/client";

/** The mark in the metadata of a trial's entity and space. */
export const trialMark = "shoal.try";

/** Whether an entity or a space belongs to a trial. */
export function isOfTrial(thing: Pick<Entity, "metadata"> | Pick<Space, "metadata">): boolean {
  return thing.metadata[trialMark] === true;
}
