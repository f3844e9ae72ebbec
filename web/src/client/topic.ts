// What can be followed, and what it is called. It stands alone: the page needs the
// names, and the rest of what follows a stream only where it has no SharedWorker.

/** What is followed: all spaces of a session, or one run of it. */
export interface Topic {
  readonly session: string;
  readonly entity: string | null;
  /** The key is the entity's own: only the spaces that it is in are followed. */
  readonly own?: boolean;
  readonly run?: string;
}

/** The name of a topic: equal topics share a source. */
export function topicName(t: Topic): string {
  return JSON.stringify([t.session, t.entity, t.own ?? false, t.run ?? null]);
}
