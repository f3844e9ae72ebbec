// Waits for the inbox of an entity.
import { Backoff, pause } from "./backoff.js";
import { ShoalError } from "./errors.js";
import { requestText } from "./request.js";
import { attempt } from "./retry.js";
import type { Shoal } from "./shoal.js";
import type { components } from "./schema.js";

/** The messages that a wait returned, by space. */
export type WaitResult = components["schemas"]["WaitResult"];
/** The messages of one space in a result. */
export type Batch = components["schemas"]["WaitItem"];

/** What to wait for. */
export interface WaitRequest {
  /** `mentions`, the default, or everything that others post. */
  readonly kind?: "mentions" | "messages";
  /** How long to wait: 30 s if it is left out; 0 checks once. It may be longer than one request. */
  readonly timeoutMs?: number;
  /** Only this space. */
  readonly space?: string;
  /** Only these senders. */
  readonly from?: readonly string[];
  /** The cursor of an earlier result: its messages are acknowledged. */
  readonly ack?: string;
  /** Returns everything that is not acknowledged, also what the last wait returned. */
  readonly redeliver?: boolean;
  readonly signal?: AbortSignal;
}

/** Which messages an inbox has. */
export type InboxOptions = Pick<WaitRequest, "kind" | "space" | "from" | "signal">;

// Proxies often end a request after a minute without data.
const roundMs = 50_000;
const graceMs = 15_000;
const day = 24 * 3600_000;

/** Waits, in as many requests as necessary. Survives restarts of a server that was reached. */
export async function wait(shoal: Shoal, request: WaitRequest): Promise<WaitResult> {
  const { kind = "mentions", timeoutMs = 30_000, space, from, ack, redeliver, signal } = request;
  const path = `${shoal.path}/entities/${encodeURIComponent(await shoal.entity())}/wait`;
  const ends = Date.now() + timeoutMs;
  const delays = new Backoff(100, 8000);
  const began = Date.now();
  let reached = false;
  for (let tries = 1; ; ) {
    const left = Math.max(0, ends - Date.now());
    const held = Math.ceil(Math.min(left, roundMs));
    const round = Date.now();
    try {
      const body = JSON.stringify({ kind, timeoutMs: held, spaceId: space, from, ack, redeliver });
      const text = await requestText((p, r) => attempt(shoal.transport, p, { ...r, signal }, held + graceMs), "POST", path, { body });
      const result = JSON.parse(text) as WaitResult;
      if (!result.timedOut || held === left) return { ...result, timeoutMs };
      reached = true;
      tries = 1;
      // A round that the server ended early lets another wait of the entity in.
      if (Date.now() - round > 1000) delays.reset();
    } catch (thrown) {
      if (signal?.aborted) throw signal.reason;
      const error = ShoalError.from(thrown);
      reached ||= error.status !== 0;
      const again = error.status === 429 || error.status === 502 || error.status === 503 || error.status === 504 || error.status === 0;
      if (!again || (tries++ >= 5 && Date.now() - began > 10_000 && (!reached || Date.now() >= ends))) throw error;
      await pause(Math.min(error.retryAfterMs, 30_000), signal);
    }
    await pause(Math.min(delays.next(), Math.max(0, ends - Date.now())), signal);
    if (signal?.aborted) throw signal.reason;
  }
}

/** Unread messages as they come, until the signal is aborted. */
export async function* inbox(shoal: Shoal, options: InboxOptions): AsyncGenerator<Batch> {
  let ack: string | undefined;
  const ended = (): boolean => options.signal?.aborted === true;
  while (!ended()) {
    const result = await wait(shoal, { ...options, ack, timeoutMs: day }).catch((error: unknown) => {
      if (ended()) return undefined;
      throw error;
    });
    if (result === undefined) return;
    ack = result.cursor ?? ack;
    yield* result.items;
  }
}
