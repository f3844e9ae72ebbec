import { describe, expect, it, vi } from "vitest";
import { Problem } from "@/client/problem";
import type { Message } from "@/client/types";
import { message, text } from "../testdata";
import { Outbox, type Outgoing, unseen } from "./outbox";

const outgoing = (key: string, some: Partial<Outgoing> = {}): Outgoing => ({ key, space: "shop", text: key, mentions: [], files: [], afterSeq: 0, refused: null, ...some });

function kept() {
  const held = new Map<string, string>();
  return { getItem: (k: string) => held.get(k) ?? null, setItem: (k: string, v: string) => void held.set(k, v) };
}

// A server with a prepared answer for each attempt, in order.
function server(...answers: ("ok" | Problem)[]) {
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
    const box = new Outbox(post, "o", kept());
    box.add(outgoing("a"));
    box.add(outgoing("b"));
    await vi.waitFor(() => expect(box.all()).toEqual([]));
    expect(sent).toEqual(["a", "b"]);
  });

  it("keeps trying with the same key while the server is away, a little longer each time", async () => {
    const { post, sent, pauses } = server(Problem.unreachable(), new Problem(503, "busy", "Busy."));
    const box = new Outbox(post, "o", kept());
    box.add(outgoing("a"));
    await vi.waitFor(() => expect(box.all()).toEqual([]));
    expect(sent).toEqual(["a", "a", "a"]);
    expect(pauses).toEqual([0, 1]);
  });

  it("shows why one was refused, and continues with the next", async () => {
    const { post, sent } = server(new Problem(413, "too_large", "It is too long."));
    const box = new Outbox(post, "o", kept());
    box.add(outgoing("a"));
    box.add(outgoing("b"));
    await vi.waitFor(() => expect(sent).toEqual(["a", "b"]));
    await vi.waitFor(() => expect(box.all()).toEqual([outgoing("a", { refused: "It is too long." })]));
    box.retry("a");
    await vi.waitFor(() => expect(box.all()).toEqual([]));
    expect(sent).toEqual(["a", "b", "a"]);
  });

  it("forgets what is discarded", async () => {
    const { post } = server(new Problem(409, "space_closed", "Closed."));
    const box = new Outbox(post, "o", kept());
    box.add(outgoing("a"));
    await vi.waitFor(() => expect(box.all()[0]?.refused).toBe("Closed."));
    box.discard("a");
    expect(box.all()).toEqual([]);
  });

  it("continues after a reload with unsent messages", async () => {
    const store = kept();
    const stuck = { ...server().post, send: () => new Promise<Message>(() => undefined) };
    new Outbox(stuck, "o", store).add(outgoing("a"));
    const { post, sent } = server();
    const again = new Outbox(post, "o", store);
    await vi.waitFor(() => expect(again.all()).toEqual([]));
    expect(sent).toEqual(["a"]);
  });
});

describe("what of the outbox the timeline does not show yet", () => {
  const mine = (seq: number, words: string) => message({ seq, parts: [text({ text: words })] });
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
