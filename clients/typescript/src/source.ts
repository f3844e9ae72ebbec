// A followed stream and the state that its events produce, shared by several subscribers.
import { type Connection, Follower } from "./follower.js";
import { allPages, request } from "./request.js";
import { type Dump, ended, type LiveEvent, SessionState } from "./session-state.js";
import type { Topic } from "./topic.js";
import { entityHeader, type Transport } from "./transport.js";
import type { Entity, PendingAction, Run, Space } from "./types.js";

/** What a subscriber receives: the state when it joins, then every change. */
export type SourceUpdate =
  | { readonly kind: "state"; readonly dump: Dump; readonly connection: Connection }
  | { readonly kind: "events"; readonly events: readonly LiveEvent[] }
  | { readonly kind: "connection"; readonly connection: Connection };

type Subscriber = (update: SourceUpdate) => void;

/** A followed stream with its subscribers. It runs from its construction until `stop`. */
export class Source {
  private readonly subscribers = new Set<Subscriber>();
  private follower: Follower;
  private readonly state: SessionState;
  private connection: Connection = { state: "connecting" };
  /** The keys of what events changed while lists were being loaded. */
  private changedWhileLoading = new Set<string>();
  private loading = false;
  private loadAgain = false;
  private recounting = false;

  constructor(
    private readonly topic: Topic,
    private readonly transport: Transport,
  ) {
    this.state = new SessionState(topic.entity, topic.own);
    this.follower = this.follow();
  }

  private follow(): Follower {
    return new Follower(this.transport, streamPath(this.topic), this.topic.entity, {
      onOpen: (fresh) => {
        if (fresh) this.apply([{ type: "local.restarted" }]);
      },
      onEvents: (events) => this.apply(events),
      onConnection: (c) => this.setConnection(c),
    }, this.topic.run === undefined);
  }

  /** Adds a subscriber. It receives the state at once, and every change from then on. */
  join(subscriber: Subscriber): void {
    this.subscribers.add(subscriber);
    // A person may have signed in since the stream ended.
    if (this.connection.state === "signed-out" || this.connection.state === "gone") {
      this.follower.stop();
      this.follower = this.follow();
    }
    subscriber({ kind: "state", dump: this.state.dump(), connection: this.connection });
  }

  /** Removes a subscriber and reports whether any is left. */
  leave(subscriber: Subscriber): boolean {
    this.subscribers.delete(subscriber);
    return this.subscribers.size > 0;
  }

  /** Applies events: those of the stream, and what a subscriber learned from a call, such as older messages. */
  apply(events: readonly LiveEvent[]): void {
    for (const event of events) {
      const changed = this.state.apply(event);
      if (!this.loading) continue;
      for (const key of changed) this.changedWhileLoading.add(key);
      if ("pendingAction" in event) this.changedWhileLoading.add(`pending:${event.pendingAction.id}`);
    }
    this.publish({ kind: "events", events });
    if (this.state.gap) {
      this.state.gap = false;
      this.follower.restart();
    }
  }

  /** Reconnects at once, and corrects the unread counts. Call it when a person returns to the page. */
  retryNow(): void {
    this.follower.retryNow();
    if (this.connection.state === "live" && this.topic.run === undefined && this.topic.entity !== null) void this.recount();
  }

  /** Closes the stream. */
  stop(): void {
    this.follower.stop();
  }

  private setConnection(c: Connection): void {
    this.connection = c;
    this.publish({ kind: "connection", connection: c });
    if (c.state === "live" && this.topic.run === undefined) void this.load();
  }

  // Loads what the stream does not start with: the entities, the open pending actions and
  // the active runs. What an event changed in the meantime is newer than the lists.
  private async load(): Promise<void> {
    if (this.loading) {
      this.loadAgain = true;
      return;
    }
    this.loading = true;
    this.changedWhileLoading = new Set();
    try {
      const [entities, pending, runs] = await Promise.all([
        this.list<Entity>("entities"),
        this.list<PendingAction>("pending-actions"),
        this.list<Run>("runs", "status=queued,running,waiting_tool,waiting_reply"),
      ]);
      const isNewer = (key: string) => this.changedWhileLoading.has(key);
      this.apply([
        {
          type: "local.loaded",
          entities: entities.filter((e) => !isNewer(`entity:${e.id}`)),
          pending: pending.filter((p) => !isNewer(`pending:${p.id}`)).concat([...this.state.pending.values()].filter((p) => p.status === "open" && isNewer(`pending:${p.id}`))),
          runs: runs.filter((r) => !isNewer(`run:${r.id}`)).concat([...this.state.runs.values()].filter((r) => !ended(r.status) && isNewer(`run:${r.id}`))),
        },
      ]);
    } catch {
      // The follower is about to report that the server is away, and reconnecting loads again.
    } finally {
      this.loading = false;
      if (this.loadAgain) {
        this.loadAgain = false;
        void this.load();
      }
    }
  }

  // No event reports what the same entity reads in another browser. A space that changes
  // during the request keeps its own counts.
  private async recount(): Promise<void> {
    if (this.recounting) return;
    this.recounting = true;
    const before = new Map(this.state.spaces);
    try {
      for (const space of await this.list<Space>("spaces")) {
        const known = this.state.spaces.get(space.id);
        if (known === undefined || known !== before.get(space.id) || known.space.lastSeq !== space.lastSeq) continue;
        if (known.order.some((id) => this.state.messages.get(id)?.status === "streaming")) continue;
        if (known.space.unreadCount !== space.unreadCount || known.space.firstUnreadSeq !== space.firstUnreadSeq || known.space.mentionCount !== space.mentionCount || known.space.muted !== space.muted) this.apply([{ type: "local.read", space }]);
      }
    } catch {
      // The next retryNow corrects the counts.
    } finally {
      this.recounting = false;
    }
  }

  private list<T>(name: string, query = ""): Promise<T[]> {
    const headers: Record<string, string> = this.topic.entity === null ? {} : { [entityHeader]: this.topic.entity };
    return allPages((cursor) => {
      const next = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      return request(this.transport, "GET", `${sessionPath(this.topic)}/${name}?limit=200&${query}${next}`, { headers, cache: "no-store" });
    });
  }

  private publish(update: SourceUpdate): void {
    for (const subscriber of this.subscribers) subscriber(update);
  }
}

const sessionPath = (t: Topic): string => `/v1/sessions/${encodeURIComponent(t.session)}`;

function streamPath(t: Topic): string {
  return t.run === undefined ? `${sessionPath(t)}/events` : `${sessionPath(t)}/runs/${encodeURIComponent(t.run)}/events`;
}
