// Routes streams to tabs. One switchboard serves all tabs of a browser from the
// SharedWorker: a browser opens only six connections to a server over HTTP/1.1, and one
// stream for each tab would use them up.
import type { LiveEvent, Transport } from "@shoal-dev/client";
import { Source, type SourceUpdate, type Topic, topicName } from "@shoal-dev/client/live";

/** A request of a tab. */
export type TabRequest =
  | { readonly kind: "join"; readonly topic: Topic }
  | { readonly kind: "leave"; readonly topic: Topic }
  | { readonly kind: "apply"; readonly topic: Topic; readonly events: readonly LiveEvent[] }
  | { readonly kind: "retry" }
  /**
   * The tab is alive and has joined these topics. A tab that is silent for too long is
   * dropped; if it was only suspended, this joins it to its topics again.
   */
  | { readonly kind: "alive"; readonly topics: readonly Topic[] }
  | { readonly kind: "bye" };

/** An update of one topic, sent to a tab. */
export interface TabUpdate {
  readonly topic: string;
  readonly update: SourceUpdate;
}

interface Tab {
  readonly subscribers: Map<string, (update: SourceUpdate) => void>;
  lastRequest: number;
}

/** How long a tab may be silent, in ms. Browsers run the timers of hidden tabs once a minute. */
const tabTimeout = 150_000;

/** Sources by topic, and the tabs that joined them. */
export class Switchboard {
  private readonly sources = new Map<string, Source>();
  private readonly tabs = new Map<(u: TabUpdate) => void, Tab>();

  constructor(private readonly transport: Transport) {}

  /** Handles a request of the tab that `post` sends to. */
  handle(post: (u: TabUpdate) => void, request: TabRequest): void {
    const tab = this.tabs.get(post) ?? { subscribers: new Map(), lastRequest: 0 };
    tab.lastRequest = Date.now();
    this.tabs.set(post, tab);
    switch (request.kind) {
      case "join":
        return this.join(post, tab, request.topic);
      case "leave":
        return this.leave(tab, topicName(request.topic));
      case "apply":
        return this.sources.get(topicName(request.topic))?.apply(request.events);
      case "retry":
        for (const source of this.sources.values()) source.retryNow();
        return;
      case "bye":
        return this.drop(post);
      case "alive":
        for (const topic of request.topics) if (!tab.subscribers.has(topicName(topic))) this.join(post, tab, topic);
    }
  }

  /** Drops the tabs that have been silent for too long. */
  sweep(): void {
    for (const [post, tab] of [...this.tabs]) if (Date.now() - tab.lastRequest > tabTimeout) this.drop(post);
  }

  private join(post: (u: TabUpdate) => void, tab: Tab, topic: Topic): void {
    const name = topicName(topic);
    if (tab.subscribers.has(name)) this.leave(tab, name);
    const subscriber = (update: SourceUpdate) => post({ topic: name, update });
    tab.subscribers.set(name, subscriber);
    const source = this.sources.get(name) ?? new Source(topic, this.transport);
    this.sources.set(name, source);
    source.join(subscriber);
  }

  private leave(tab: Tab, name: string): void {
    const subscriber = tab.subscribers.get(name);
    const source = this.sources.get(name);
    if (subscriber === undefined || source === undefined) return;
    tab.subscribers.delete(name);
    if (!source.leave(subscriber)) {
      source.stop();
      this.sources.delete(name);
    }
  }

  private drop(post: (u: TabUpdate) => void): void {
    const tab = this.tabs.get(post);
    if (tab === undefined) return;
    for (const name of [...tab.subscribers.keys()]) this.leave(tab, name);
    this.tabs.delete(post);
  }
}
