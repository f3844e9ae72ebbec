// Limits of what a page keeps in memory, however long it stays open.

/** The number of messages in a space, of runs and of pending actions above which the oldest are dropped. */
export const limits = { messages: 2000, runs: 500, pending: 500 };

/**
 * Drops the oldest entries that `isDroppable` accepts if the map has more than `limit`
 * entries, and returns their ids. Up to half of `limit` remain, so that dropping is rare.
 */
export function dropOldest<T>(all: Map<string, T>, limit: number, isDroppable: (t: T) => boolean): string[] {
  if (all.size <= limit) return [];
  const old = [...all].filter(([, t]) => isDroppable(t)).map(([id]) => id);
  const dropped = old.slice(0, Math.max(0, old.length - limit / 2));
  for (const id of dropped) all.delete(id);
  return dropped;
}
