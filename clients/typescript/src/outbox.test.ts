import { describe, expect, it, vi } from "vitest";
import { ShoalError } from "./errors.js";
import { longestWait, Outbox, type OutboxStorage, type Outgoing, unseen } from "./outbox.js";
import type { Message, TextPart } from "./types.js";

const at = "2026-11-20T10:00:00.000Z";
const text = (words: string): TextPart => ({ id: "prt_1", type: "text", text: words, status: "done" });
const message = (some: Partial<Message>): Message => ({
  id: `msg_${some.seq ?? 1}`, sessionId: "default", spaceId: "shop", seq: 1, entityId: "ann", runId: null, status: "completed", mentions: [],
  droppedMentions: [], onBehalfOf: [], replyTo: null, reactions: [], deletedAt: null, editedAt: null, createdAt: at, updatedAt: at, parts: [text("Hello")], ...some,
});

const now = Date.now();
const outgoing = (key: string, some: Partial<Outgoing> = {}): Outgoing => ({ key, space: "shop", text: key, mentions: [], files: [], afterSeq: 0, at: now, refused: null, ...some });

// A browser's database, and what its tabs have of it.
function browser() {
  const stored = new Map<string, Outgoing>();
  const tabs: (() => void)[] = [];
  const locks = new Map<string, Promise<void>>();
  const tab = (): OutboxStorage => {
    let mine: () => void = () => undefined;
    const changed = () => tabs.filter((fn) => fn !== mine).forEach((fn) => fn());
    return {
      load: () => Promise.resolve([...stored.values()]),
      put: (o) => Promise.resolve(void stored.set(o.key, o)).then(changed),
      remove: (key) => Promise.resolve(void stored.delete(key)).then(changed),
      onChange: (fn) => void tabs.push((mine = fn)),
      exclusive: (space, work) => {
        const turn = (locks.get(space) ?? Promise.resolve()).then(work);
        locks.set(space, turn);
        return turn;
      },
    };
  };
  return { stored, tab };
}

// A server with a prepared answer for each attempt, in order.
function server(...answers: ("ok" | ShoalError)[]) {
  const sent: string[] = [];
  const pauses: number[] = [];
  const post = {
    send: (o: Outgoing): Promise<Message> => {
      sent.push(o.key);
      const answer = answers.shift() ?? "ok";
      return answer === "ok" ? Promise.resolve(message({ id: o.key })) : Promise.reject(answer);
    },
    stored: () => Promise.resolve(),
    pause: (n: number) => {
      pauses.push(n);
      return Promise.resolve();
    },
  };
  return { post, sent, pauses };
}

describe("the outbox", () => {
  it("sends in order, each once, and is empty then", async () => {
    const { post, sent } = server();
    const box = new Outbox(post, browser().tab());
    void box.add(outgoing("a"));
    void box.add(outgoing("b"));
    await vi.waitFor(() => expect(box.all()).toEqual([]));
    expect(sent).toEqual(["a", "b"]);
  });

  it("keeps trying with the same key while the server is away, a little longer each time", async () => {
    const { post, sent, pauses } = server(ShoalError.unreachable(), new ShoalError(503, "busy", "Busy."));
    const box = new Outbox(post, browser().tab());
    void box.add(outgoing("a"));
    await vi.waitFor(() => expect(box.all()).toEqual([]));
    expect(sent).toEqual(["a", "a", "a"]);
    expect(pauses).toEqual([0, 1]);
  });

  it("shows why one was refused, and continues with the next", async () => {
    const { post, sent } = server(new ShoalError(413, "too_large", "It is too long."));
    const box = new Outbox(post, browser().tab());
    void box.add(outgoing("a"));
    void box.add(outgoing("b"));
    await vi.waitFor(() => expect(sent).toEqual(["a", "b"]));
    await vi.waitFor(() => expect(box.all()).toMatchObject([{ key: "a", refused: "It is too long." }]));
    void box.retry("a");
    await vi.waitFor(() => expect(box.all()).toEqual([]));
    expect(sent).toEqual(["a", "b", "a"]);
  });

  it("forgets what is discarded", async () => {
    const { post } = server(new ShoalError(409, "space_closed", "Closed."));
    const box = new Outbox(post, browser().tab());
    void box.add(outgoing("a"));
    await vi.waitFor(() => expect(box.all()[0]?.refused).toBe("Closed."));
    await box.discard("a");
    expect(box.all()).toEqual([]);
  });

  it("goes on in a new tab with what was not sent", async () => {
    const { stored, tab } = browser();
    stored.set("a", outgoing("a"));
    const { post, sent } = server();
    const again = new Outbox(post, tab());
    await vi.waitFor(() => expect(stored.size).toBe(0));
    expect(sent).toEqual(["a"]);
    expect(again.all()).toEqual([]);
  });

  it("sends from one tab at a time, and shows the same in both", async () => {
    const { stored, tab } = browser();
    const { post, sent } = server();
    const answers: (() => void)[] = [];
    const slow = { ...post, send: (o: Outgoing) => new Promise<Message>((resolve) => answers.push(() => resolve(post.send(o)))) };
    const one = new Outbox(slow, tab());
    const two = new Outbox(slow, tab());
    await one.add(outgoing("a"));
    await vi.waitFor(() => expect(two.all().map((o) => o.key)).toEqual(["a"]));
    await vi.waitFor(() => expect(answers).toHaveLength(1));
    answers[0]?.();
    await vi.waitFor(() => expect([one.all(), two.all()]).toEqual([[], []]));
    expect(answers).toHaveLength(1);
    expect(sent).toEqual(["a"]);
    expect(stored.size).toBe(0);
  });

  it("sends what the browser does not store, too", async () => {
    const { post, sent } = server(ShoalError.unreachable());
    const refuses = () => Promise.reject(new Error("no room"));
    const box = new Outbox(post, { ...browser().tab(), load: refuses, put: refuses, remove: refuses });
    await box.add(outgoing("a"));
    await vi.waitFor(() => expect(box.all()).toEqual([]));
    expect(sent).toEqual(["a", "a"]);
  });

  it("sends nothing after it has been stopped, and leaves what is stored to the next one", async () => {
    const { stored, tab } = browser();
    const { post, sent } = server(ShoalError.unreachable());
    let goOn: (() => void) | undefined;
    const end = new AbortController();
    const box = new Outbox({ ...post, signal: end.signal, pause: () => new Promise<void>((resolve) => (goOn = resolve)) }, tab());
    void box.add(outgoing("a"));
    await vi.waitFor(() => expect(goOn).toBeDefined());
    end.abort();
    goOn?.();
    const next = new Outbox(post, tab());
    await vi.waitFor(() => expect(stored.size).toBe(0));
    expect(sent).toEqual(["a", "a"]);
    expect(next.all()).toEqual([]);
  });

  it("asks before it sends what was written more than a day ago", async () => {
    const { stored, tab } = browser();
    stored.set("a", outgoing("a", { at: now - longestWait - 1000 }));
    const { post, sent } = server();
    const box = new Outbox(post, tab());
    await vi.waitFor(() => expect(box.all()[0]?.refused).toBe("it was written more than a day ago."));
    expect(sent).toEqual([]);
    await box.retry("a");
    await vi.waitFor(() => expect(sent).toEqual(["a"]));
  });
});

describe("what of the outbox the timeline does not show yet", () => {
  const mine = (seq: number, words: string) => message({ seq, parts: [text(words)] });
  it("excludes messages that the stream delivered, each counted once", () => {
    const box = [outgoing("1", { text: "hi", afterSeq: 4 }), outgoing("2", { text: "hi", afterSeq: 4 })];
    expect(unseen(box, "ann", [mine(5, "hi")]).map((o) => o.key)).toEqual(["2"]);
    expect(unseen(box, "ann", [mine(5, "hi"), mine(6, "hi")])).toEqual([]);
  });
  it("is not confused with an older message or another sender's", () => {
    const box = [outgoing("1", { text: "hi", afterSeq: 4 })];
    expect(unseen(box, "ann", [mine(3, "hi")])).toHaveLength(1);
    expect(unseen(box, "bea", [mine(5, "hi")])).toHaveLength(1);
  });
});
