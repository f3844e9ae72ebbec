// Which tab looks at which stream. One switchboard serves all tabs of a browser
// from the SharedWorker: a browser opens only six connections to a server, and
// one stream for each tab would use them up.
import type { LiveEvent } from "@/client/session-state";
import { Source, type Told } from "@/client/source";
import { type Topic, topicName } from "@/client/topic";

/** What a tab asks for. */
export type Asked =
  | { readonly kind: "join"; readonly topic: Topic }
  | { readonly kind: "leave"; readonly topic: Topic }
  | { readonly kind: "apply"; readonly topic: Topic; readonly events: readonly LiveEvent[] }
  | { readonly kind: "retry" }
  /**
   * The tab is there, and looks at these. One that says nothing for two minutes is
   * taken for gone; if it only slept, it is joined to its topics again.
   */
  | { readonly kind: "here"; readonly topics: readonly Topic[] }
  | { readonly kind: "bye" };

/** What a tab is told, and of which topic. */
export interface Answer {
  readonly topic: string;
  readonly told: Told;
}

interface Tab {
  readonly tells: Map<string, (told: Told) => void>;
  heard: number;
}

/** How long a tab may be silent; browsers slow the timers of hidden tabs to one a minute. */
const forgottenAfter = 150_000;

export class Switchboard {
  private readonly sources = new Map<string, Source>();
  private readonly tabs = new Map<(a: Answer) => void, Tab>();

  /** Handles what a tab asks; `post` is the way back to it. */
  handle(post: (a: Answer) => void, asked: Asked): void {
    const tab = this.tabs.get(post) ?? { tells: new Map(), heard: 0 };
    tab.heard = Date.now();
    this.tabs.set(post, tab);
    switch (asked.kind) {
      case "join":
        return this.join(post, tab, asked.topic);
      case "leave":
        return this.leave(tab, topicName(asked.topic));
      case "apply":
        return this.sources.get(topicName(asked.topic))?.apply(asked.events);
      case "retry":
        for (const source of this.sources.values()) source.retryNow();
        return;
      case "bye":
        return this.drop(post);
      case "here":
        for (const topic of asked.topics) if (!tab.tells.has(topicName(topic))) this.join(post, tab, topic);
    }
  }

  /** Drops tabs that are gone without a word. */
  sweep(): void {
    for (const [post, tab] of [...this.tabs]) if (Date.now() - tab.heard > forgottenAfter) this.drop(post);
  }

  private join(post: (a: Answer) => void, tab: Tab, topic: Topic): void {
    const name = topicName(topic);
    if (tab.tells.has(name)) this.leave(tab, name);
    const tell = (told: Told) => post({ topic: name, told });
    tab.tells.set(name, tell);
    const source = this.sources.get(name) ?? new Source(topic);
    this.sources.set(name, source);
    source.join(tell);
  }

  private leave(tab: Tab, name: string): void {
    const tell = tab.tells.get(name);
    const source = this.sources.get(name);
    if (tell === undefined || source === undefined) return;
    tab.tells.delete(name);
    if (!source.leave(tell)) {
      source.stop();
      this.sources.delete(name);
    }
  }

  private drop(post: (a: Answer) => void): void {
    const tab = this.tabs.get(post);
    if (tab === undefined) return;
    for (const name of [...tab.tells.keys()]) this.leave(tab, name);
    this.tabs.delete(post);
  }
}
