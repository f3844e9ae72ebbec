// How much a page holds of what only grows, however long it stays open.

/** Messages of a space, runs, pending actions: over so many the older half goes. */
export const most = { messages: 2000, runs: 500, pending: 500 };

/**
 * Drops the oldest of those that may go, once there are more than `kept` in all, and
 * returns their ids. Half of `kept` stays, so that this is seldom work.
 */
export function dropOldest<T>(all: Map<string, T>, kept: number, mayGo: (t: T) => boolean): string[] {
  if (all.size <= kept) return [];
  const old = [...all].filter(([, t]) => mayGo(t)).map(([id]) => id);
  const gone = old.slice(0, Math.max(0, old.length - kept / 2));
  for (const id of gone) all.delete(id);
  return gone;
}
