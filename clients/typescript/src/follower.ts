// Follows one event stream until it is stopped, and reports the state of the connection to a
// listener.
import { ShoalError } from "./errors.js";
import { Stream } from "./stream.js";
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

/** Follows a stream from its construction until `stop`. */
export class Follower {
  private readonly stream: Stream<ServerEvent>;
  private readonly stopped = new AbortController();
  private offlineSince: number | undefined;

  /** `manySnapshots` says whether the stream begins with several snapshots, as that of a session does. */
  constructor(
    transport: Transport,
    path: string,
    entity: string | null,
    private readonly listener: Listener,
    manySnapshots = false,
  ) {
    this.stream = new Stream(transport, path, {
      signal: this.stopped.signal,
      manySnapshots,
      headers: entity === null ? {} : { [entityHeader]: entity },
      isFinal: ({ status }) => status === 401 || status === 403 || status === 404,
      retryForMs: Infinity,
      onOpen: (fresh) => this.opened(fresh),
      onLost: () => this.report({ state: "offline", since: (this.offlineSince ??= Date.now()) }),
    });
    void this.run();
  }

  /** Closes the connection. The listener is not called any more. */
  stop(): void {
    this.stopped.abort();
  }

  /** Reconnects without a cursor, so that the stream starts with snapshots. */
  restart(): void {
    this.stream.restart();
  }

  /** Reconnects at once if the follower is offline, for example because the machine woke up. */
  retryNow(): void {
    this.stream.retryNow();
  }

  private async run(): Promise<void> {
    this.report({ state: "connecting" });
    try {
      for await (const events of this.stream.batches()) if (!this.stopped.signal.aborted) this.listener.onEvents(events);
    } catch (thrown) {
      const error = ShoalError.from(thrown);
      this.report(error.status === 401 ? { state: "signed-out" } : { state: "gone", detail: error.message });
    }
  }

  private opened(fresh: boolean): void {
    if (this.stopped.signal.aborted) return;
    this.listener.onOpen(fresh);
    this.offlineSince = undefined;
    this.report({ state: "live" });
  }

  private report(c: Connection): void {
    if (!this.stopped.signal.aborted) this.listener.onConnection(c);
  }
}
