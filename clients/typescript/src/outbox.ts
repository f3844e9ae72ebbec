// Messages that their writer has sent and the server has not stored yet. They are shown at
// once, in all tabs, and sent one after the other in each space, by one tab. They wait while
// the server is away, and outlive the tab and the browser. Each has one Idempotency-Key for
// all attempts, so none is posted twice.
import { ShoalError } from "./errors.js";
import type { FilePart, Message } from "./types.js";

/** A message on its way out. */
export interface Outgoing {
  /** Its Idempotency-Key. */
  readonly key: string;
  readonly space: string;
  readonly text: string;
  readonly mentions: readonly string[];
  /** Uploaded already. */
  readonly files: readonly SentFile[];
  /** The message that it replies to. */
  readonly replyTo?: string | undefined;
  /** The newest message that was here when it was sent. */
  readonly afterSeq: number;
  /** When it was written, in ms since the epoch. */
  readonly at: number;
  /** Why the server refused it; null while it is being sent or waits for the server. */
  readonly refused: string | null;
}

/** What a file part says of an uploaded file. */
export type SentFile = Pick<FilePart, "name" | "mediaType" | "size" | "url">;

/** The dependencies of an outbox. */
export interface Post {
  /** Posts a message; throws a ShoalError. */
  send(o: Outgoing): Promise<Message>;
  /** Receives the stored message; resolves once the timeline shows it. */
  stored(m: Message): Promise<void>;
  /** Waits before another attempt, the nth; ends at once when the server is back. */
  pause(n: number): Promise<void>;
  /** Once it is aborted, nothing more is sent; what is stored remains for another outbox. */
  readonly signal?: AbortSignal;
}

/** Stores the outgoing messages of one participant, for all tabs of the browser. */
export interface OutboxStorage {
  /** All of them, the oldest first. */
  load(): Promise<readonly Outgoing[]>;
  put(o: Outgoing): Promise<void>;
  remove(key: string): Promise<void>;
  /** Calls `fn` after another tab has changed something. */
  onChange(fn: () => void): void;
  /** Ends `onChange`. What is in progress then still ends. */
  close?(): void;
  /** Runs `work` while no other tab sends to the space. */
  exclusive(space: string, work: () => Promise<void>): Promise<void>;
}

/** A message that has waited for longer is not sent without asking, in ms. */
export const longestWait = 24 * 60 * 60_000;

/** See the head of this file. */
export class Outbox {
  private list: readonly Outgoing[] = [];
  // Added here and not stored yet, or never: the browser may refuse to store anything.
  private readonly unstored = new Map<string, Outgoing>();
  private readonly sending = new Set<string>();
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly post: Post,
    private readonly storage: OutboxStorage,
  ) {
    storage.onChange(() => void this.resume());
    void this.resume();
  }

  /** All of them, the oldest first; the same array while nothing has changed. */
  all = (): readonly Outgoing[] => this.list;

  subscribe = (fn: () => void): (() => void) => {
    this.listeners.add(fn);
    return () => void this.listeners.delete(fn);
  };

  /** Sends a message as soon as those before it in its space are sent. Resolves once it is stored. */
  async add(message: Omit<Outgoing, "at">): Promise<void> {
    // The order of the times is the order of the messages.
    const o: Outgoing = { ...message, at: Math.max(Date.now(), (this.list[this.list.length - 1]?.at ?? 0) + 1) };
    this.set([...this.list, o]);
    this.unstored.set(o.key, o);
    await this.storage.put(o).then(
      () => this.unstored.delete(o.key),
      () => undefined, // It is sent all the same, and would be lost with the tab.
    );
    void this.work(o.space);
  }

  /** Sends one that was refused once more. */
  async retry(key: string): Promise<void> {
    const o = this.list.find((each) => each.key === key);
    if (o === undefined) return;
    await this.replace({ ...o, refused: null, at: Date.now() });
    await this.work(o.space);
  }

  /** Drops one. It may have been stored all the same, if its answer was lost. */
  async discard(key: string): Promise<void> {
    this.unstored.delete(key);
    this.set(this.list.filter((o) => o.key !== key));
    await this.storage.remove(key).catch(() => undefined);
  }

  // Takes over what is stored, and sends what nobody sends.
  private async resume(): Promise<void> {
    await this.reload();
    for (const space of new Set(this.list.map((o) => o.space))) void this.work(space);
  }

  private async reload(): Promise<void> {
    const stored = await this.storage.load().catch(() => this.list);
    const known = new Set(stored.map((o) => o.key));
    this.set([...stored, ...[...this.unstored.values()].filter((o) => !known.has(o.key))].map(expired));
  }

  // Sends what a space has, one after the other; one such loop for each space in all tabs.
  private async work(space: string): Promise<void> {
    if (this.sending.has(space) || this.next(space) === undefined) return;
    this.sending.add(space);
    try {
      await this.storage.exclusive(space, async () => {
        await this.reload(); // Another tab may have sent them meanwhile.
        for (let o = this.next(space), attempt = 0; o !== undefined; o = this.next(space)) attempt = await this.attempt(o, attempt);
      });
    } finally {
      this.sending.delete(space);
    }
    if (this.next(space) !== undefined) await this.work(space); // It came while the lock was given back.
  }

  private next(space: string): Outgoing | undefined {
    return this.post.signal?.aborted ? undefined : this.list.find((o) => o.space === space && o.refused === null);
  }

  // Tries to send one; returns how often in a row the server was away.
  private async attempt(o: Outgoing, before: number): Promise<number> {
    try {
      await this.post.stored(await this.post.send(o));
      await this.discard(o.key);
      return 0;
    } catch (error) {
      const problem = ShoalError.from(error);
      if (passes(problem)) {
        await this.post.pause(before);
        return before + 1;
      }
      await this.replace({ ...o, refused: problem.message });
      return 0;
    }
  }

  // Nothing that was discarded in the meantime comes back.
  private async replace(o: Outgoing): Promise<void> {
    if (!this.list.some((each) => each.key === o.key)) return;
    this.set(this.list.map((each) => (each.key === o.key ? o : each)));
    if (this.unstored.has(o.key)) this.unstored.set(o.key, o);
    await this.storage.put(o).catch(() => undefined);
  }

  private set(list: readonly Outgoing[]): void {
    this.list = list;
    for (const fn of this.listeners) fn();
  }
}

// The conversation has gone on, or the server at this address is another one by now.
function expired(o: Outgoing): Outgoing {
  return o.refused === null && Date.now() - o.at > longestWait ? { ...o, refused: "it was written more than a day ago." } : o;
}

/** Whether the same call may succeed later. */
function passes(p: ShoalError): boolean {
  return p.code === "unreachable" || p.code === "idempotency_in_flight" || p.status === 429 || p.status === 502 || p.status === 503 || p.status === 504;
}

/**
 * Those that the timeline does not show yet. The stream may bring a message before
 * its call is answered: one of the same writer and words that came after it was
 * sent is it, each for one of them.
 */
export function unseen(outgoing: readonly Outgoing[], writer: string | null, messages: readonly Message[]): Outgoing[] {
  const taken = new Set<string>();
  return outgoing.filter((o) => {
    const seen = messages.find((m) => m.seq > o.afterSeq && m.entityId === writer && m.runId === null && !taken.has(m.id) && sameWords(o, m));
    if (seen !== undefined) taken.add(seen.id);
    return seen === undefined;
  });
}

function sameWords(o: Outgoing, m: Message): boolean {
  const text = m.parts.map((p) => (p.type === "text" ? p.text : "")).join("");
  const files = m.parts.flatMap((p) => (p.type === "file" ? [p.url] : []));
  return text === o.text && files.join("\n") === o.files.map((f) => f.url).join("\n");
}
