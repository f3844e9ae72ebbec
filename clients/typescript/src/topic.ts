// The name of a followed stream. It is a file of its own because pages need only the
// names; the code that follows streams runs in a worker.

/** A stream to follow: all spaces of a session, or one run. */
export interface Topic {
  readonly session: string;
  /** The entity that acts; null for an admin that acts as no entity. */
  readonly entity: string | null;
  /** Whether the key belongs to the entity: then the stream has only the spaces that it is a member of. */
  readonly own?: boolean;
  readonly run?: string;
}

/** The name of a topic. Equal topics have equal names. */
export function topicName(t: Topic): string {
  return JSON.stringify([t.session, t.entity, t.own ?? false, t.run ?? null]);
}
