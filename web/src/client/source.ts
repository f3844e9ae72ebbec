// One followed stream with what is known by it, shared by all tabs that look at
// it. It runs in the SharedWorker, or in the page where there is none.
import { entityHeader } from "./header";
import { signInHeaders } from "@/api/sign-in";
import type { Entity, PendingAction, Run, Space } from "./types";
import { type Dump, ended, Live, type LiveEvent } from "./session-state";
import { type Connection, Follower } from "./follower";
import type { Topic } from "./topic";

/** What a tab is told. */
export type Told =
  | { readonly kind: "state"; readonly dump: Dump; readonly connection: Connection }
  | { readonly kind: "events"; readonly events: readonly LiveEvent[] }
  | { readonly kind: "connection"; readonly connection: Connection };

type Tell = (told: Told) => void;

/** A followed stream and its listeners. It ends when the last listener leaves. */
export class Source {
  private readonly tells = new Set<Tell>();
  private follower: Follower;
  private live: Live;
  private connection: Connection = { state: "connecting" };
  private touched = new Set<string>();
  private loading = false;
  private loadAgain = false;
  private recounting = false;

  constructor(private readonly topic: Topic) {
    this.live = new Live(topic.entity, topic.own);
    this.follower = this.follow();
  }

  private follow(): Follower {
    return new Follower(streamPath(this.topic), this.topic.entity, {
      begin: (fresh) => {
        if (fresh) this.apply([{ type: "console.begun" }]);
      },
      events: (events) => this.apply(events),
      connection: (c) => this.connected(c),
    });
  }

  /** Adds a listener: it is told the state, and from then on what happens. */
  join(tell: Tell): void {
    this.tells.add(tell);
    // Somebody may have signed in since another tab was refused.
    if (this.connection.state === "signed-out" || this.connection.state === "gone") {
      this.follower.stop();
      this.follower = this.follow();
    }
    tell({ kind: "state", dump: this.live.dump(), connection: this.connection });
  }

  /** Removes a listener and says whether any is left. */
  leave(tell: Tell): boolean {
    this.tells.delete(tell);
    return this.tells.size > 0;
  }

  /** Applies what a tab found out by a call: older messages, a space that was read. */
  apply(events: readonly LiveEvent[]): void {
    for (const event of events) {
      const changed = this.live.apply(event);
      if (!this.loading) continue;
      for (const key of changed) this.touched.add(key);
      if ("pendingAction" in event) this.touched.add(`pending:${event.pendingAction.id}`);
    }
    this.tell({ kind: "events", events });
    if (this.live.gap) {
      this.live.gap = false;
      this.follower.restart();
    }
  }

  /** Somebody looks again: connects at once, and asks what was read elsewhere meanwhile. */
  retryNow(): void {
    this.follower.retryNow();
    if (this.connection.state === "live" && this.topic.run === undefined && this.topic.entity !== null) void this.recount();
  }

  stop(): void {
    this.follower.stop();
  }

  private connected(c: Connection): void {
    this.connection = c;
    this.tell({ kind: "connection", connection: c });
    if (c.state === "live" && this.topic.run === undefined) void this.load();
  }

  // What the stream of spaces does not say of the time before it: who there is,
  // what waits, which runs are under way. What an event has changed meanwhile is newer.
  private async load(): Promise<void> {
    if (this.loading) {
      this.loadAgain = true;
      return;
    }
    this.loading = true;
    this.touched = new Set();
    try {
      const [entities, pending, runs] = await Promise.all([
        this.items<Entity>("entities"),
        this.items<PendingAction>("pending-actions"),
        this.items<Run>("runs", "status=queued,running,waiting_tool,waiting_reply"),
      ]);
      this.apply([
        {
          type: "console.loaded",
          entities: entities.filter((e) => !this.touched.has(`entity:${e.id}`)),
          pending: pending.filter((p) => !this.touched.has(`pending:${p.id}`)).concat([...this.live.pending.values()].filter((p) => p.status === "open" && this.touched.has(`pending:${p.id}`))),
          runs: runs.filter((r) => !this.touched.has(`run:${r.id}`)).concat([...this.live.runs.values()].filter((r) => !ended(r.status) && this.touched.has(`run:${r.id}`))),
        },
      ]);
    } catch {
      // The connection is about to say that the server is away, and loads again when it is back.
    } finally {
      this.loading = false;
      if (this.loadAgain) {
        this.loadAgain = false;
        void this.load();
      }
    }
  }

  // No event tells what the same reader has read in another browser. A space to
  // which something happens while the server is asked keeps its own count.
  private async recount(): Promise<void> {
    if (this.recounting) return;
    this.recounting = true;
    const before = new Map(this.live.spaces);
    try {
      for (const space of await this.items<Space>("spaces")) {
        const known = this.live.spaces.get(space.id);
        if (known === undefined || known !== before.get(space.id) || known.space.lastSeq !== space.lastSeq) continue;
        if (known.order.some((id) => this.live.messages.get(id)?.status === "streaming")) continue;
        if (known.space.unreadCount !== space.unreadCount || known.space.mentionCount !== space.mentionCount || known.space.muted !== space.muted) this.apply([{ type: "console.read", space }]);
      }
    } catch {
      // The next look asks again.
    } finally {
      this.recounting = false;
    }
  }

  private async items<T>(list: string, query = ""): Promise<T[]> {
    const headers = await signInHeaders();
    if (this.topic.entity !== null) headers[entityHeader] = this.topic.entity;
    const items: T[] = [];
    let cursor: string | null = null;
    do {
      const next: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const path = `/v1/sessions/${encodeURIComponent(this.topic.session)}/${list}?limit=200&${query}${next}`;
      const response = await fetch(path, { headers, credentials: "same-origin", cache: "no-store" });
      if (!response.ok) throw new Error(`${list}: ${response.status}`);
      const page = (await response.json()) as { items: T[]; nextCursor: string | null };
      items.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== null && items.length < 2000);
    return items;
  }

  private tell(told: Told): void {
    for (const tell of this.tells) tell(told);
  }
}

function streamPath(t: Topic): string {
  const session = `/v1/sessions/${encodeURIComponent(t.session)}`;
  return t.run === undefined ? `${session}/events` : `${session}/runs/${encodeURIComponent(t.run)}/events`;
}
