// Messages that their writer has sent and the server has not stored yet. They are
// shown at once, sent one after the other in each space, kept while the server is
// away, and kept over a reload of the tab. Each has one Idempotency-Key for all
// attempts, so none is posted twice.
import { Problem } from "@/client/problem";
import type { FilePart, Message } from "@/client/types";

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
  /** Why the server refused it; null while it is being sent or waits for the server. */
  readonly refused: string | null;
}

/** What a file part says of an uploaded file. */
export type SentFile = Pick<FilePart, "name" | "mediaType" | "size" | "url">;

/** The dependencies of an outbox. */
export interface Post {
  /** Posts a message; throws a Problem. */
  send(o: Outgoing): Promise<Message>;
  /** Receives the stored message; resolves once the timeline shows it. */
  stored(m: Message): Promise<void>;
  /** Waits before another attempt, the nth; ends at once when the server is back. */
  pause(n: number): Promise<void>;
}

/** Where an outbox is kept over a reload. */
export type Kept = Pick<Storage, "getItem" | "setItem">;

/** See the head of this file. */
export class Outbox {
  private list: readonly Outgoing[];
  private readonly sending = new Set<string>();
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly post: Post,
    private readonly name: string,
    private readonly kept: Kept,
  ) {
    this.list = read(kept, name);
    for (const space of new Set(this.list.map((o) => o.space))) void this.work(space);
  }

  /** All of them, the oldest first; the same array while nothing has changed. */
  all = (): readonly Outgoing[] => this.list;

  subscribe = (fn: () => void): (() => void) => {
    this.listeners.add(fn);
    return () => void this.listeners.delete(fn);
  };

  /** Sends a message as soon as those before it in its space are sent. */
  add(o: Outgoing): void {
    this.set([...this.list, o]);
    void this.work(o.space);
  }

  /** Sends one that was refused once more. */
  retry(key: string): void {
    this.set(this.list.map((o) => (o.key === key ? { ...o, refused: null } : o)));
    const o = this.list.find((each) => each.key === key);
    if (o !== undefined) void this.work(o.space);
  }

  /** Drops one. It may have been stored all the same, if its answer was lost. */
  discard(key: string): void {
    this.set(this.list.filter((o) => o.key !== key));
  }

  // Sends what a space has, one after the other; one such loop for each space.
  private async work(space: string): Promise<void> {
    if (this.sending.has(space)) return;
    this.sending.add(space);
    for (let o = this.next(space), attempt = 0; o !== undefined; o = this.next(space)) attempt = await this.attempt(o, attempt);
    this.sending.delete(space);
  }

  private next(space: string): Outgoing | undefined {
    return this.list.find((o) => o.space === space && o.refused === null);
  }

  // Tries to send one; returns how often in a row the server was away.
  private async attempt(o: Outgoing, before: number): Promise<number> {
    try {
      await this.post.stored(await this.post.send(o));
      this.discard(o.key);
      return 0;
    } catch (error) {
      const problem = Problem.from(error);
      if (passes(problem)) {
        await this.post.pause(before);
        return before + 1;
      }
      this.set(this.list.map((each) => (each.key === o.key ? { ...each, refused: problem.message } : each)));
      return 0;
    }
  }

  private set(list: readonly Outgoing[]): void {
    this.list = list;
    try {
      this.kept.setItem(this.name, JSON.stringify(list));
    } catch {
      // No room: they are sent all the same, and would be lost with the tab alone.
    }
    for (const fn of this.listeners) fn();
  }
}

/** Whether the same call may succeed later. */
function passes(p: Problem): boolean {
  return p.code === "unreachable" || p.code === "idempotency_in_flight" || p.status === 429 || p.status === 502 || p.status === 503 || p.status === 504;
}

function read(kept: Kept, name: string): readonly Outgoing[] {
  try {
    const list: unknown = JSON.parse(kept.getItem(name) ?? "[]");
    return Array.isArray(list) ? (list as Outgoing[]) : [];
  } catch {
    return [];
  }
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
