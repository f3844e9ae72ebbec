// Follows one event stream until it is stopped: reads events, resumes after interruptions,
// and reports the state of the connection.
import { EventParser } from "./sse.js";
import { entityHeader, type Transport } from "./transport.js";
import type { ServerEvent } from "./types.js";

/** The state of the connection of a stream. */
export type Connection =
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  /** Disconnected at `since` (ms since the epoch). The follower reconnects by itself. */
  | { readonly state: "offline"; readonly since: number }
  /** The credentials are not valid any more: a person has to sign in. */
  | { readonly state: "signed-out" }
  /** The stream does not exist, or the caller may not read it. */
  | { readonly state: "gone"; readonly detail: string };

/** Receives what a follower reads. */
export interface Listener {
  /** A connection was opened. If `fresh`, the stream starts with snapshots; else it resumes. */
  onOpen(fresh: boolean): void;
  /** The events of one chunk, in order. */
  onEvents(events: readonly ServerEvent[]): void;
  onConnection(c: Connection): void;
}

// A restarted server responds again within a second or two.
const shortestDelay = 250;
const longestDelay = 8000;
// The server sends a heartbeat every 15 s.
const silenceLimit = 40_000;

/** Follows a stream from its construction until `stop`. */
export class Follower {
  private cursor: string | undefined;
  private delay = shortestDelay;
  private offlineSince: number | undefined;
  private readonly stopped = new AbortController();
  private attempt = new AbortController();
  private endDelay: () => void = () => undefined;

  constructor(
    private readonly transport: Transport,
    private readonly path: string,
    private readonly entity: string | null,
    private readonly listener: Listener,
  ) {
    void this.run();
  }

  /** Closes the connection. The listener is not called any more. */
  stop(): void {
    this.stopped.abort();
    this.attempt.abort();
    this.endDelay();
  }

  /** Reconnects without a cursor, so that the stream starts with snapshots. */
  restart(): void {
    this.cursor = undefined;
    this.attempt.abort();
  }

  /** Reconnects at once if the follower is offline, for example because the machine woke up. */
  retryNow(): void {
    this.delay = shortestDelay;
    this.endDelay();
  }

  private async run(): Promise<void> {
    this.listener.onConnection({ state: "connecting" });
    while (!this.stopped.signal.aborted) {
      this.attempt = new AbortController();
      const end = await this.connect().catch(() => undefined);
      if (this.stopped.signal.aborted) return;
      if (end !== undefined) {
        this.listener.onConnection(end);
        return;
      }
      this.offlineSince ??= Date.now();
      this.listener.onConnection({ state: "offline", since: this.offlineSince });
      await this.backOff();
    }
  }

  // Reads one connection to its end. Returns a state if reconnecting is pointless.
  private async connect(): Promise<Connection | undefined> {
    const fresh = this.cursor === undefined;
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (this.entity !== null) headers[entityHeader] = this.entity;
    if (this.cursor !== undefined) headers["Last-Event-ID"] = this.cursor;
    const watchdog = new Watchdog(this.attempt);
    try {
      const response = await this.transport(this.path, { headers, cache: "no-store", signal: this.attempt.signal });
      if (response.status === 401) return { state: "signed-out" };
      if (response.status === 403 || response.status === 404) return { state: "gone", detail: await detailOf(response) };
      if (!response.ok || response.body === null) return undefined;
      this.listener.onOpen(fresh);
      this.offlineSince = undefined;
      this.delay = shortestDelay;
      this.listener.onConnection({ state: "live" });
      await this.read(response.body.getReader(), watchdog);
      return undefined;
    } finally {
      watchdog.stop();
    }
  }

  private async read(reader: ReadableStreamDefaultReader<Uint8Array>, watchdog: Watchdog): Promise<void> {
    const parser = new EventParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      watchdog.reset();
      const events: ServerEvent[] = [];
      for (const sent of parser.feed(value)) {
        events.push(JSON.parse(sent.data) as ServerEvent);
        if (sent.id !== undefined) this.cursor = sent.id;
      }
      if (events.length > 0) this.listener.onEvents(events);
    }
  }

  private backOff(): Promise<void> {
    const ms = this.delay * (0.75 + Math.random() / 2);
    this.delay = Math.min(this.delay * 2, longestDelay);
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.endDelay = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

// Aborts a connection that is silent for too long: a half-open connection never ends.
class Watchdog {
  private timer: ReturnType<typeof setTimeout>;
  constructor(private readonly connection: AbortController) {
    this.timer = setTimeout(() => this.connection.abort(), silenceLimit);
  }
  reset(): void {
    this.stop();
    this.timer = setTimeout(() => this.connection.abort(), silenceLimit);
  }
  stop(): void {
    clearTimeout(this.timer);
  }
}

async function detailOf(response: Response): Promise<string> {
  try {
    const body = (await response.json()) as { detail?: string };
    return body.detail ?? `The server returned status ${response.status}.`;
  } catch {
    return `The server returned status ${response.status}.`;
  }
}
