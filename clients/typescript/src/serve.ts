// Executes the runs of a remote agent in this program.
import { Backoff, pause } from "./backoff.js";
import { ShoalError } from "./errors.js";
import { request } from "./request.js";
import { attempt } from "./retry.js";
import type { Shoal } from "./shoal.js";
import type { RemoteRun } from "./types.js";
import { Work } from "./work.js";

/**
 * Executes one run. When it returns, the run is completed; what it throws fails the run with
 * its message, which members of the space read. `work.signal` is aborted when the run is
 * canceled or another program has claimed it; then nothing more is reported.
 */
export type Handler = (work: Work) => Promise<void> | void;

/** How to serve an agent. */
export interface ServeOptions {
  /** Ends serving: runs that are in progress are given back with what was reported, and other programs can claim them at once. */
  readonly signal?: AbortSignal;
  /** How many runs are executed at the same time, 4 if it is left out. A key has at most 20 open streams, and each run needs one. */
  readonly concurrency?: number;
  /** Receives what went wrong and is retried, and how handlers failed. */
  readonly onError?: (error: unknown) => void;
}

const roundMs = 50_000;
const graceMs = 15_000;
const mostRuns = 64;

/**
 * Claims the runs of a remote agent and calls `handle` for each, until the signal is aborted.
 * It survives restarts of the server and broken connections. The key must be that of the
 * agent, or an admin's. Throws the error with which the server refuses to give it runs.
 */
export async function serveAgent(shoal: Shoal, agent: string, handle: Handler, options: ServeOptions = {}): Promise<void> {
  const { signal, concurrency = 4, onError = () => undefined } = options;
  const running = new Set<Promise<void>>();
  const holds = new Set<string>(); // the runs that are being executed
  const delays = new Backoff(100, 8000);
  const began = Date.now();
  let reached = false;
  try {
    for (let tries = 1; !aborted(signal); ) {
      if (running.size >= concurrency) {
        await Promise.race(running);
        continue;
      }
      const outcome = await claim(shoal, agent, Math.min(concurrency - running.size, mostRuns), [...holds].slice(0, mostRuns), signal).catch(ShoalError.from);
      if (!(outcome instanceof ShoalError)) {
        reached = true;
        tries = 1;
        delays.reset();
        for (const run of outcome) {
          const one: Promise<void> = execute(new Work(shoal, run, { signal, onError }), handle, onError).finally(() => {
            running.delete(one);
            holds.delete(run.run.id);
          });
          running.add(one);
          holds.add(run.run.id);
        }
        continue;
      }
      if (aborted(signal)) break;
      const again = outcome.status === 0 || outcome.status === 429 || outcome.status === 502 || outcome.status === 503 || outcome.status === 504;
      if (!again || (!reached && tries++ >= 5 && Date.now() - began > 10_000)) throw outcome;
      onError(outcome);
      await pause(Math.max(delays.next(), Math.min(outcome.retryAfterMs, 30_000)), signal);
    }
  } finally {
    await Promise.all(running);
  }
}

// An answer that is lost costs nothing: the runs are claimed again once their leases have ended. The
// leases of the runs that this program holds may have ended, too, while the server was not reached:
// they go on, and are not claimed again.
async function claim(shoal: Shoal, agent: string, limit: number, holds: readonly string[], signal: AbortSignal | undefined): Promise<readonly RemoteRun[]> {
  const path = `${shoal.path}/agents/${encodeURIComponent(agent)}/claim`;
  const body = JSON.stringify({ limit, waitMs: roundMs, holds });
  return (await request<{ items: readonly RemoteRun[] }>((p, r) => attempt(shoal.transport, p, { ...r, signal }, roundMs + graceMs), "POST", path, { body })).items;
}

async function execute(work: Work, handle: Handler, onError: (error: unknown) => void): Promise<void> {
  try {
    await handle(work);
    await work.finish();
  } catch (error) {
    if (!work.signal.aborted) onError(error);
    await work.finish(error);
  }
}

function aborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
