// Reads a stream of server-sent events, and reconnects after the last event when the
// connection breaks. It is pulled: a reader that is busy slows the server down, and nothing
// is queued.
import { Backoff, onAbort, pause } from "./backoff.js";
import { ShoalError } from "./errors.js";
import { refusal } from "./request.js";
import { EventParser, type SentEvent } from "./sse.js";
import type { Transport } from "./transport.js";

/** What a stream does besides reading. */
export interface StreamOptions {
  /** Resumes after the event with this cursor. Without it the stream begins with snapshots. */
  readonly after?: string;
  /** Ends the stream. The iteration ends without an error. */
  readonly signal?: AbortSignal;
  readonly headers?: Record<string, string>;
  /** Whether the stream begins with several snapshots, between which it cannot resume. */
  readonly manySnapshots?: boolean;
  /** Whether an error ends the stream. By default everything does that is about the request. */
  readonly isFinal?: (error: ShoalError) => boolean;
  /** How long to try to reach a server that was never reached. */
  readonly retryForMs?: number;
  /** A connection was opened. If `fresh`, the stream starts with snapshots; else it resumes. */
  readonly onOpen?: (fresh: boolean) => void;
  /** The connection broke, or could not be opened; the stream reconnects. */
  readonly onLost?: (error: ShoalError) => void;
}

// A restarted server responds again within a second or two.
const shortestDelay = 250;
const longestDelay = 8000;
// The server sends a heartbeat every 15 s.
const silenceLimit = 40_000;

/** A stream of events. Iterate over it once. */
export class Stream<E> implements AsyncIterable<E> {
  private last: string | undefined;
  private attempt = new AbortController();
  private endDelay = new AbortController();
  private readonly delays = new Backoff(shortestDelay, longestDelay);

  constructor(
    private readonly transport: Transport,
    private readonly path: string,
    private readonly options: StreamOptions = {},
  ) {
    this.last = options.after;
  }

  /** The position: pass it as `after` to resume after the events that were read. */
  get cursor(): string | undefined {
    return this.last;
  }

  /** Reconnects without a cursor, so that the stream starts with snapshots. */
  restart(): void {
    this.last = undefined;
    this.attempt.abort();
  }

  /** Reconnects at once if the connection is lost, for example because the machine woke up. */
  retryNow(): void {
    this.delays.reset();
    this.endDelay.abort();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<E> {
    for await (const batch of this.batches()) yield* batch;
  }

  /** The events as they arrive: those of one chunk together. */
  async *batches(): AsyncGenerator<readonly E[]> {
    const { signal, isFinal = aboutTheRequest, retryForMs = 10_000 } = this.options;
    const began = Date.now();
    let reached = false;
    const onOpen = (fresh: boolean): void => {
      reached = true;
      this.delays.reset();
      this.options.onOpen?.(fresh);
    };
    for (;;) {
      const error = yield* this.connection(onOpen);
      if (signal?.aborted) return;
      reached ||= error.status !== 0;
      if (isFinal(error) || (!reached && Date.now() - began > retryForMs)) throw error;
      this.options.onLost?.(error);
      this.endDelay = new AbortController();
      const forget = onAbort(signal, () => this.endDelay.abort());
      await pause(Math.max(this.delays.next(), Math.min(error.retryAfterMs, 30_000)), this.endDelay.signal);
      forget();
      if (signal?.aborted) return;
    }
  }

  // Reads one connection, and returns why it ended.
  private async *connection(onOpen: (fresh: boolean) => void): AsyncGenerator<readonly E[], ShoalError> {
    const fresh = this.last === undefined;
    const headers = { Accept: "text/event-stream", ...this.options.headers, ...(this.last !== undefined && { "Last-Event-ID": this.last }) };
    this.attempt = new AbortController();
    const forget = onAbort(this.options.signal, () => this.attempt.abort());
    const { attempt } = this;
    try {
      const response = await answered(attempt, this.transport(this.path, { headers, cache: "no-store", signal: attempt.signal }));
      if (!response.ok || response.body === null) return await answered(attempt, refusal(response));
      if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) return new ShoalError(0, "internal", "The response is not a stream of events. A proxy may have replaced it.");
      onOpen(fresh);
      const reader = response.body.getReader();
      const parser = new EventParser();
      for (;;) {
        const { done, value } = await answered(attempt, reader.read());
        if (done) return ShoalError.unreachable("The server ended the stream.");
        const batch = parser.feed(value).map((sent) => this.received(sent));
        if (batch.length > 0) yield batch;
      }
    } catch (error) {
      return ShoalError.from(error);
    } finally {
      forget();
      attempt.abort();
    }
  }

  private received(sent: SentEvent): E {
    const event = JSON.parse(sent.data) as E;
    // Between several snapshots the stream cannot resume: the others would be missing.
    if (sent.id !== undefined && !(this.options.manySnapshots === true && sent.type === "snapshot")) this.last = sent.id;
    return event;
  }
}

// Waits for the server, but gives the connection up when it is silent: a half-open one never ends.
async function answered<T>(attempt: AbortController, response: Promise<T>): Promise<T> {
  const timer = setTimeout(() => attempt.abort(), silenceLimit);
  try {
    return await response;
  } catch (error) {
    throw error instanceof ShoalError ? error : ShoalError.unreachable();
  } finally {
    clearTimeout(timer);
  }
}

// Not about the state of the server, which may be another one at the next attempt.
function aboutTheRequest({ status }: ShoalError): boolean {
  return status > 0 && status < 500 && status !== 408 && status !== 429;
}
