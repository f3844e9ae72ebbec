// The delays between attempts.

/**
 * The delay before the next attempt: it about doubles each time, from `first` to `most`. Half
 * of it is random, so that many clients of one server do not reconnect at the same moment.
 */
export class Backoff {
  private step = 0;
  constructor(
    private readonly first: number,
    private readonly most: number,
  ) {}

  next(): number {
    this.step = Math.min(Math.max(2 * this.step, this.first), this.most);
    return this.step * (0.5 + Math.random() / 2);
  }

  reset(): void {
    this.step = 0;
  }
}

/** Calls `fn` when the signal is aborted, at once if it is already. Returns a function that ends this. */
export function onAbort(signal: AbortSignal | undefined, fn: () => void): () => void {
  if (signal?.aborted) fn();
  signal?.addEventListener("abort", fn);
  return () => signal?.removeEventListener("abort", fn);
}

/** Waits, but not longer than until the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let forget = (): void => undefined;
    const done = (): void => {
      clearTimeout(timer);
      forget();
      resolve();
    };
    const timer = setTimeout(done, ms);
    forget = onAbort(signal, done);
  });
}
