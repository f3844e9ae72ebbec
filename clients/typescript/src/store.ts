// The state of a followed stream in a page, in a form that pages can draw from: the subscribers
// of a value are called when it changes, at most once per frame however many deltas arrive.
import type { Connection } from "./follower.js";
import { SessionState } from "./session-state.js";
import type { SourceUpdate } from "./source.js";
import type { Key, LiveEvent } from "./state-types.js";
import type { Topic } from "./topic.js";

/** What can be subscribed to: a value of the state, or the state of the connection. */
export type StoreKey = Key | "connection";

/** The state of one topic in this page. A source, or what passes its updates on, calls `receive`. */
export class Store {
  live: SessionState;
  connection: Connection = { state: "connecting" };
  private readonly listeners = new Map<string, Set<() => void>>();
  private readonly taps = new Set<(event: LiveEvent) => void>();
  private readonly dirty = new Set<string>();
  private flushing = false;

  /** `publish` applies events for all that have this topic, this store included. */
  constructor(
    /** A page that learns later who it is sets it before the first update. */
    public topic: Topic,
    private readonly publish: (events: readonly LiveEvent[]) => void,
  ) {
    this.live = new SessionState(topic.entity, topic.own);
  }

  /** Calls `fn` after the value of the key has changed. Returns a function that ends the subscription. */
  subscribe(key: StoreKey, fn: () => void): () => void {
    const set = this.listeners.get(key) ?? new Set();
    this.listeners.set(key, set);
    set.add(fn);
    return () => {
      set.delete(fn);
      if (set.size === 0) this.listeners.delete(key);
    };
  }

  /** Calls `fn` with every event from now on, in order. Returns a function that ends this. */
  tap(fn: (event: LiveEvent) => void): () => void {
    this.taps.add(fn);
    return () => void this.taps.delete(fn);
  }

  /** Applies events for all that have this topic, for example older messages that a call returned. */
  share(events: readonly LiveEvent[]): void {
    this.publish(events);
  }

  /** Applies an update of the source. */
  receive(update: SourceUpdate): void {
    switch (update.kind) {
      case "state":
        this.live = SessionState.from(update.dump, this.topic.entity, this.topic.own);
        this.connection = update.connection;
        for (const key of this.listeners.keys()) this.dirty.add(key);
        break;
      case "events":
        for (const event of update.events) {
          for (const key of this.live.apply(event)) this.dirty.add(key);
          for (const tap of this.taps) tap(event);
        }
        break;
      case "connection":
        this.connection = update.connection;
        this.dirty.add("connection");
    }
    if (this.flushing) return;
    this.flushing = true;
    beforeNextFrame(() => this.flush());
  }

  private flush(): void {
    this.flushing = false;
    const keys = [...this.dirty];
    this.dirty.clear();
    for (const key of keys) for (const fn of this.listeners.get(key) ?? []) fn();
  }
}

// A hidden page has no frames, also if it is hidden before the next one, and programs that are
// no pages have none. A timer keeps counts and titles current.
function beforeNextFrame(fn: () => void): void {
  let done = false;
  const once = (): void => {
    if (!done) fn();
    done = true;
  };
  globalThis.requestAnimationFrame?.(once);
  setTimeout(once, 250);
}
