// What the page shows of a followed stream. Values come from the switchboard;
// whoever draws one of them is told when that one has changed, at most once for
// each frame, however many deltas came.
import { type Asked, type Answer } from "@/stream/switchboard";
import { type Topic, topicName } from "@/client/topic";
import type { Connection } from "@/client/follower";
import { type Key, Live, type LiveEvent } from "@/client/session-state";
import { link } from "@/stream/link";

/** What can be subscribed to: a changed value, or how the connection stands. */
export type StoreKey = Key | "connection";

/** One topic's state in this tab. */
export class Store {
  live: Live;
  connection: Connection = { state: "connecting" };
  /** Counts every event; those that want all of them (a log) subscribe to `events`. */
  private readonly listeners = new Map<string, Set<() => void>>();
  private readonly taps = new Set<(event: LiveEvent) => void>();
  private readonly dirty = new Set<string>();
  private drawing = false;

  constructor(readonly topic: Topic) {
    this.live = new Live(topic.entity, topic.own);
  }

  /** Calls `fn` after the value of the key has changed. Returns the way to stop it. */
  subscribe(key: StoreKey, fn: () => void): () => void {
    const set = this.listeners.get(key) ?? new Set();
    this.listeners.set(key, set);
    set.add(fn);
    return () => {
      set.delete(fn);
      if (set.size === 0) this.listeners.delete(key);
    };
  }

  /** Calls `fn` with every event from now on, in order. */
  tap(fn: (event: LiveEvent) => void): () => void {
    this.taps.add(fn);
    return () => void this.taps.delete(fn);
  }

  /** Tells this tab and all others what a call has found out. */
  share(events: readonly LiveEvent[]): void {
    ask({ kind: "apply", topic: this.topic, events });
  }

  /** Takes what the switchboard tells. */
  hear(told: Answer["told"]): void {
    switch (told.kind) {
      case "state":
        this.live = Live.from(told.dump, this.topic.entity, this.topic.own);
        this.connection = told.connection;
        for (const key of this.listeners.keys()) this.dirty.add(key);
        break;
      case "events":
        for (const event of told.events) {
          for (const key of this.live.apply(event)) this.dirty.add(key);
          for (const tap of this.taps) tap(event);
        }
        break;
      case "connection":
        this.connection = told.connection;
        this.dirty.add("connection");
    }
    if (this.drawing) return;
    this.drawing = true;
    soon(() => this.flush());
  }

  private flush(): void {
    this.drawing = false;
    const keys = [...this.dirty];
    this.dirty.clear();
    for (const key of keys) for (const fn of this.listeners.get(key) ?? []) fn();
  }
}

// With the next frame. A hidden tab has none, and neither has one that is hidden
// before it came: its title and its counts go on.
function soon(fn: () => void): void {
  let done = false;
  const once = () => {
    if (!done) fn();
    done = true;
  };
  requestAnimationFrame(once);
  setTimeout(once, 250);
}

const stores = new Map<string, { store: Store; users: number }>();

const ask: (asked: Asked) => void = (asked) => {
  linked ??= link(
    (answer) => stores.get(answer.topic)?.store.hear(answer.told),
    () => [...stores.values()].map((s) => s.store.topic),
  );
  linked(asked);
};
let linked: ((asked: Asked) => void) | undefined;

/** The store of a topic; it is followed from the first `open` to the last `close`. */
export function open(topic: Topic): Store {
  const name = topicName(topic);
  const held = stores.get(name);
  if (held !== undefined) {
    held.users++;
    return held.store;
  }
  const store = new Store(topic);
  stores.set(name, { store, users: 1 });
  ask({ kind: "join", topic });
  return store;
}

/** The counterpart of open. */
export function close(store: Store): void {
  const name = topicName(store.topic);
  const held = stores.get(name);
  if (held === undefined || held.store !== store || --held.users > 0) return;
  stores.delete(name);
  ask({ kind: "leave", topic: store.topic });
}

/** Tries to connect again at once. */
export function retryNow(): void {
  ask({ kind: "retry" });
}
