// Follows one event stream for as long as somebody wants it: reads, resumes where
// it was cut, and tells how the connection stands.
import { entityHeader } from "./header";
import { signInHeaders } from "@/api/sign-in";
import type { ServerEvent } from "./types";
import { EventParser } from "./sse";

/** How a stream stands. */
export type Connection =
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  /** Cut off since `since` (ms); it is tried again by itself. */
  | { readonly state: "offline"; readonly since: number }
  /** The browser's session is over: somebody has to sign in. */
  | { readonly state: "signed-out" }
  /** What was followed does not exist, or not for this reader. */
  | { readonly state: "gone"; readonly detail: string };

/** What a follower tells its owner. */
export interface Listener {
  /** A connection stands; with `fresh` it begins with snapshots. */
  begin(fresh: boolean): void;
  /** What came in one piece. */
  events(events: readonly ServerEvent[]): void;
  connection(c: Connection): void;
}

// A server that is started again is back within a second or two.
const shortestPause = 250;
const longestPause = 8000;
// The server says something every 15 s (contract, section 4).
const silence = 40_000;

/** A stream that is followed until stop. */
export class Follower {
  private cursor: string | undefined;
  private pause = shortestPause;
  private since: number | undefined;
  private readonly ended = new AbortController();
  private cut = new AbortController();
  private wake: () => void = () => undefined;

  constructor(
    private readonly url: string,
    private readonly entity: string | null,
    private readonly listener: Listener,
  ) {
    void this.run();
  }

  /** Ends it; nothing is told any more. */
  stop(): void {
    this.ended.abort();
    this.cut.abort();
    this.wake();
  }

  /** Begins anew: with snapshots, whatever was there. */
  restart(): void {
    this.cursor = undefined;
    this.cut.abort();
  }

  /** Tries at once, for example because the machine woke up. */
  retryNow(): void {
    this.pause = shortestPause;
    this.wake();
  }

  private async run(): Promise<void> {
    this.listener.connection({ state: "connecting" });
    while (!this.ended.signal.aborted) {
      this.cut = new AbortController();
      const over = await this.connect().catch(() => undefined);
      if (this.ended.signal.aborted) return;
      if (over !== undefined) {
        this.listener.connection(over);
        return;
      }
      this.since ??= Date.now();
      this.listener.connection({ state: "offline", since: this.since });
      await this.rest();
    }
  }

  // One connection, to its end. Returns why there is no sense in another one.
  private async connect(): Promise<Connection | undefined> {
    const fresh = this.cursor === undefined;
    const headers: Record<string, string> = { Accept: "text/event-stream", ...(await signInHeaders()) };
    if (this.entity !== null) headers[entityHeader] = this.entity;
    if (this.cursor !== undefined) headers["Last-Event-ID"] = this.cursor;
    const watch = new Watch(this.cut);
    try {
      const response = await fetch(this.url, { headers, credentials: "same-origin", cache: "no-store", signal: this.cut.signal });
      if (response.status === 401) return { state: "signed-out" };
      if (response.status === 403 || response.status === 404) return { state: "gone", detail: await detail(response) };
      if (!response.ok || response.body === null) return undefined;
      this.listener.begin(fresh);
      this.since = undefined;
      this.pause = shortestPause;
      this.listener.connection({ state: "live" });
      await this.read(response.body.getReader(), watch);
      return undefined;
    } finally {
      watch.stop();
    }
  }

  private async read(reader: ReadableStreamDefaultReader<Uint8Array>, watch: Watch): Promise<void> {
    const parser = new EventParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      watch.heard();
      const events: ServerEvent[] = [];
      for (const sent of parser.feed(value)) {
        events.push(JSON.parse(sent.data) as ServerEvent);
        if (sent.id !== undefined) this.cursor = sent.id;
      }
      if (events.length > 0) this.listener.events(events);
    }
  }

  private rest(): Promise<void> {
    const ms = this.pause * (0.75 + Math.random() / 2);
    this.pause = Math.min(this.pause * 2, longestPause);
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

// Watch cuts a connection that has gone silent: half-open ones never end.
class Watch {
  private timer: ReturnType<typeof setTimeout>;
  constructor(private readonly cut: AbortController) {
    this.timer = setTimeout(() => this.cut.abort(), silence);
  }
  heard(): void {
    this.stop();
    this.timer = setTimeout(() => this.cut.abort(), silence);
  }
  stop(): void {
    clearTimeout(this.timer);
  }
}

async function detail(response: Response): Promise<string> {
  try {
    const body = (await response.json()) as { detail?: string };
    return body.detail ?? `The server answered ${response.status}.`;
  } catch {
    return `The server answered ${response.status}.`;
  }
}
