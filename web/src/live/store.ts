// The state of followed streams in this tab. Updates come from the switchboard. The
// subscribers of a value are called when it changes, at most once per frame however many
// deltas arrive.
import { type Connection, type LiveEvent, SessionState, type StateKey } from "@shoal-dev/client";
import { type Topic, topicName } from "@shoal-dev/client/live";
import { link, type Send } from "@/stream/link";
import type { TabUpdate } from "@/stream/switchboard";

/** What can be subscribed to: a value of the state, or the state of the connection. */
export type StoreKey = StateKey | "connection";

/** The state of one topic in this tab. */
export class Store {
  live: SessionState;
  connection: Connection = { state: "connecting" };
  private readonly listeners = new Map<string, Set<() => void>>();
  private readonly taps = new Set<(event: LiveEvent) => void>();
  private readonly dirty = new Set<string>();
  private flushing = false;

  constructor(readonly topic: Topic) {
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

  /** Applies events in all tabs, for example older messages that a call returned. */
  share(events: readonly LiveEvent[]): void {
    send({ kind: "apply", topic: this.topic, events });
  }

  /** Applies an update of the switchboard. */
  receive(update: TabUpdate["update"]): void {
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

// A hidden tab has no frames, also if it is hidden before the next one. A timer keeps its
// title and its counts current.
function beforeNextFrame(fn: () => void): void {
  let done = false;
  const once = () => {
    if (!done) fn();
    done = true;
  };
  requestAnimationFrame(once);
  setTimeout(once, 250);
}

const stores = new Map<string, { store: Store; users: number }>();

let linked: Send | undefined;
const send: Send = (request) => {
  linked ??= link(
    ({ topic, update }) => stores.get(topic)?.store.receive(update),
    () => [...stores.values()].map((s) => s.store.topic),
  );
  linked(request);
};

/** Returns the store of a topic. The topic is followed from the first `open` to the last `close`. */
export function open(topic: Topic): Store {
  const name = topicName(topic);
  const known = stores.get(name);
  if (known !== undefined) {
    known.users++;
    return known.store;
  }
  const store = new Store(topic);
  stores.set(name, { store, users: 1 });
  send({ kind: "join", topic });
  return store;
}

/** Releases a store that `open` returned. */
export function close(store: Store): void {
  const name = topicName(store.topic);
  const known = stores.get(name);
  if (known === undefined || known.store !== store || --known.users > 0) return;
  stores.delete(name);
  send({ kind: "leave", topic: store.topic });
}

/** Reconnects at once if the server was unreachable. */
export function retryNow(): void {
  send({ kind: "retry" });
}
