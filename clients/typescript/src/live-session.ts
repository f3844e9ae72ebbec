// A session as a page shows it: its state, which one stream keeps current, and what the person
// has sent that the server has not stored yet.
import { Backoff, onAbort, pause } from "./backoff.js";
import { ShoalError } from "./errors.js";
import { Outbox, type OutboxStorage, type Outgoing } from "./outbox.js";
import { posting } from "./posting.js";
import { request } from "./request.js";
import { attempt, randomKey } from "./retry.js";
import type { Shoal } from "./shoal.js";
import { Source } from "./source.js";
import { Store } from "./store.js";
import { type ClientTool, type ClientToolOptions, ClientTools } from "./tools.js";
import type { Topic } from "./topic.js";
import type { Caller, Message } from "./types.js";

/** A message to send: a text, with uploaded files, mentions and the message that it replies to. */
export type Sending = { readonly text: string } & Partial<Pick<Outgoing, "files" | "mentions" | "replyTo">>;

/** What a session needs of its platform. */
export interface LiveOptions {
  /** Returns the storage of an outbox. Without it, what is not sent when the page is closed is lost. */
  readonly storage?: (name: string) => OutboxStorage;
  /** Receives each message that was sent and is stored: `skippedAgents` and `reach` say what became of its mentions. */
  readonly onSent?: (message: Message) => void;
}

const pageSize = 50;

/** See the top of this file. It makes no call before `start`. */
export class LiveSession {
  readonly store: Store;
  private readonly tools: ClientTools;
  private source: Source | undefined;
  private outbox: Outbox | undefined;
  // Sent before the server has answered who the sender is.
  private early: readonly Outgoing[] = [];
  private wake = new AbortController();
  private readonly listeners = new Set<() => void>();
  private list: readonly Outgoing[] = [];

  constructor(
    readonly shoal: Shoal,
    private readonly options: LiveOptions = {},
  ) {
    this.store = new Store({ session: shoal.session, entity: null }, (events) => this.source?.apply(events));
    this.tools = new ClientTools(shoal);
  }

  /**
   * Follows the session until the function that it returns is called. The state of the
   * connection is in the store. It can be started again.
   */
  start(): () => void {
    const stopped = new AbortController();
    void this.run(stopped.signal);
    return () => stopped.abort();
  }

  /** Reconnects at once. Call it when a person returns to the page, or the machine is online again. */
  retryNow(): void {
    this.wake.abort();
    this.source?.retryNow();
  }

  /** The messages on their way, the oldest first; the same array while nothing changes. */
  outgoing = (): readonly Outgoing[] => this.list;

  /** Calls `fn` when `outgoing` changes. Returns a function that ends this. */
  subscribeOutgoing = (fn: () => void): (() => void) => {
    this.listeners.add(fn);
    return () => void this.listeners.delete(fn);
  };

  /**
   * Sends a message after those before it, also if the server is away for now: it is posted
   * once. Resolves with its idempotency key once the outbox has it; `outgoing` shows it at once.
   */
  async send(space: string, { text, files = [], mentions = [], replyTo }: Sending): Promise<string> {
    const afterSeq = this.store.live.spaces.get(space)?.space.lastSeq ?? 0;
    const message = { key: randomKey(), space, text, files, mentions, replyTo, afterSeq, refused: null };
    if (this.outbox !== undefined) await this.outbox.add(message);
    else {
      this.early = [...this.early, { ...message, at: Date.now() }];
      this.changed();
    }
    return message.key;
  }

  /** Sends a message that was refused once more. */
  async retry(key: string): Promise<void> {
    await this.outbox?.retry(key);
  }

  /** Drops a message that is on its way. It may have been stored all the same, if the answer was lost. */
  async discard(key: string): Promise<void> {
    this.early = this.early.filter((o) => o.key !== key);
    this.changed();
    await this.outbox?.discard(key);
  }

  /** Loads the page of messages before the first one that is loaded. Reports whether there are more. */
  async loadOlder(space: string): Promise<boolean> {
    const [first] = this.store.live.messagesIn(space);
    if (first === undefined || first.seq <= 1) return false;
    const messages = await this.shoal.messages(space, { before: first.seq, limit: pageSize });
    this.store.share([{ type: "local.older", spaceId: space, messages }]);
    return (messages[0]?.seq ?? 1) > 1;
  }

  /** Marks the messages of a space up to a `seq` as read; without it all that are here. */
  async markRead(space: string, seq = this.store.live.spaces.get(space)?.space.lastSeq ?? 0): Promise<void> {
    const read = await this.shoal.api.POST("/v1/sessions/{session}/spaces/{space}/read", { params: { path: { session: this.shoal.session, space } }, body: { seq } });
    // The answer may not count messages that came meanwhile: their events have.
    if (this.store.live.spaces.get(space)?.space.lastSeq === read.lastSeq) this.store.share([{ type: "local.read", space: read }]);
  }

  /** Executes the calls of a client tool, like Shoal.onTool, without another stream. */
  onTool(name: string, handler: ClientTool, options?: ClientToolOptions): () => void {
    const remove = this.tools.add(name, handler, options);
    this.offerActions();
    return remove;
  }

  private offerActions(): void {
    for (const action of this.store.live.pending.values()) this.tools.offer(action);
  }

  private async run(signal: AbortSignal): Promise<void> {
    const caller = await this.identify(signal);
    if (caller === undefined) return;
    const acting = this.shoal.actingAs ?? caller.entityId;
    const topic: Topic = { session: this.shoal.session, entity: acting, own: caller.role !== "admin" };
    this.store.topic = topic;
    const source = new Source(topic, this.shoal.transport);
    this.source = source;
    source.join((update) => {
      if (!signal.aborted) this.store.receive(update);
    });
    const storage = this.openOutbox(topic, signal);
    const stopOffering = this.store.subscribe("pending", () => this.offerActions());
    signal.addEventListener("abort", () => {
      source.stop();
      stopOffering();
      storage.close?.();
      if (this.source === source) this.source = this.outbox = undefined;
    });
  }

  // Asks the server who the key is, until it answers. Undefined if it refuses the key, or this has ended.
  private async identify(signal: AbortSignal): Promise<Caller | undefined> {
    const delays = new Backoff(250, 8000);
    let since: number | undefined;
    for (;;) {
      try {
        const caller = await request<Caller>((path, r) => attempt(this.shoal.transport, path, { ...r, signal }), "GET", "/v1/me");
        return signal.aborted ? undefined : caller;
      } catch (thrown) {
        if (signal.aborted) return undefined;
        const { status, message } = ShoalError.from(thrown);
        const refused = status >= 400 && status < 500 && status !== 408 && status !== 429;
        this.store.receive({ kind: "connection", connection: status === 401 ? { state: "signed-out" } : refused ? { state: "gone", detail: message } : { state: "offline", since: (since ??= Date.now()) } });
        if (refused) return undefined;
      }
      this.wake = new AbortController();
      const forget = onAbort(signal, () => this.wake.abort());
      await pause(delays.next(), this.wake.signal);
      forget();
      if (signal.aborted) return undefined;
    }
  }

  private openOutbox({ session, entity }: Topic, signal: AbortSignal): OutboxStorage {
    const { shoal } = this;
    const post = posting(this.store, (o, draft) => shoal.send(o.space, draft, { idempotencyKey: o.key }), this.options.onSent, signal);
    const name = `shoal.outbox.${shoal.url}.${session}.${entity ?? ""}`;
    const storage = this.options.storage?.(name) ?? inMemory();
    const outbox = new Outbox(post, storage);
    this.outbox = outbox;
    outbox.subscribe(() => this.changed());
    const { early } = this;
    this.early = [];
    for (const o of early) void outbox.add(o);
    this.changed();
    return storage;
  }

  private changed(): void {
    this.list = [...(this.outbox?.all() ?? []), ...this.early];
    for (const fn of this.listeners) fn();
  }
}

// One page, which forgets.
function inMemory(): OutboxStorage {
  const all = new Map<string, Outgoing>();
  const done = Promise.resolve();
  return {
    load: () => Promise.resolve([...all.values()]),
    put: (o) => (all.set(o.key, o), done),
    remove: (key) => (all.delete(key), done),
    onChange: () => undefined,
    exclusive: (_, work) => work(),
  };
}
