// A source over a transport that plays a server: one event stream and the lists.
import { afterEach, expect, it } from "vitest";
import { Source, type SourceUpdate } from "./source.js";
import type { Transport } from "./transport.js";
import type { PendingAction, Run, ServerEvent, Space } from "./types.js";

const space = (unreadCount: number) => ({ id: "shop", sessionId: "default", name: "Shop", members: [{ entityId: "ann" }], lastSeq: 3, unreadCount, mentionCount: 0, muted: false }) as unknown as Space;
const run = (id: string, status: Run["status"]) => ({ id, status, agentId: "bot" }) as unknown as Run;
const pending = (id: string, status: string) => ({ id, status, messageId: null }) as unknown as PendingAction;

let source: Source | undefined;
afterEach(() => source?.stop());

/** The server: tests push events into its newest stream and hold back its lists. */
class FakeServer {
  readonly requests: string[] = [];
  readonly lists: Record<string, readonly unknown[]> = { entities: [], "pending-actions": [], runs: [], spaces: [] };
  /** Lists wait for this. */
  ready: Promise<unknown> = Promise.resolve();
  status = 200;
  private stream: ReadableStreamDefaultController<Uint8Array> | undefined;

  readonly transport: Transport = async (path, { headers, signal }) => {
    const name = path.replace(/\?.*/, "").split("/").pop() ?? "";
    this.requests.push(`${path} as ${headers?.["X-Shoal-Entity"] ?? "nobody"}${headers?.["Last-Event-ID"] === undefined ? "" : ` after ${headers["Last-Event-ID"]}`}`);
    if (name !== "events") {
      const items = this.lists[name]; // as it is when the request arrives
      await this.ready;
      return Response.json({ items, nextCursor: null });
    }
    if (this.status !== 200) return Response.json({ detail: "no" }, { status: this.status });
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.stream = controller;
        signal?.addEventListener("abort", () => controller.error(new Error("aborted")));
      },
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  };

  send(id: number, event: unknown): void {
    this.stream?.enqueue(new TextEncoder().encode(`id: ${id}\ndata: ${JSON.stringify(event)}\n\n`));
  }
}

/** Collects updates; `until` resolves with the first one that is accepted. */
class Collector {
  readonly updates: SourceUpdate[] = [];
  private waiting: (() => void)[] = [];
  readonly receive = (update: SourceUpdate): void => {
    this.updates.push(update);
    for (const wake of this.waiting.splice(0)) wake();
  };
  async until(accept: (u: SourceUpdate) => boolean): Promise<void> {
    while (!this.updates.some(accept)) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
  isLive = () => this.until((u) => u.kind === "connection" && u.connection.state === "live");
  has = (type: string, count = 1) => this.until((u) => u.kind === "events" && u.events.some((e) => e.type === type) && this.count(type) >= count);
  count = (type: string) => this.updates.flatMap((u) => (u.kind === "events" ? u.events : [])).filter((e) => e.type === type).length;
}

function follow(server: FakeServer, collector: Collector): Source {
  source = new Source({ session: "default", entity: "ann", own: true }, server.transport);
  source.join(collector.receive);
  return source;
}

/** The state that a subscriber receives when it joins now. */
function stateOf(of: Source) {
  const updates: SourceUpdate[] = [];
  const receive = (u: SourceUpdate) => void updates.push(u);
  of.join(receive);
  of.leave(receive);
  const first = updates[0];
  if (first?.kind !== "state") throw new Error("the first update is not the state");
  return first.dump;
}

it("loads entities, open actions and active runs once it is connected", async () => {
  const server = new FakeServer();
  server.lists.runs = [run("r1", "running")];
  server.lists["pending-actions"] = [pending("p1", "open")];
  const collector = new Collector();
  const s = follow(server, collector);
  await collector.has("local.loaded");
  expect(stateOf(s)).toMatchObject({ runs: [{ id: "r1" }], pending: [{ id: "p1" }] });
  expect(server.requests).toEqual([
    "/v1/sessions/default/events as ann",
    "/v1/sessions/default/entities?limit=200& as ann",
    "/v1/sessions/default/pending-actions?limit=200& as ann",
    "/v1/sessions/default/runs?limit=200&status=queued,running,waiting_tool,waiting_reply as ann",
  ]);
});

it("prefers what an event changed while the lists were being loaded", async () => {
  const server = new FakeServer();
  server.lists.runs = [run("r1", "running")];
  server.lists["pending-actions"] = [pending("p1", "open")];
  let release = (): void => undefined;
  server.ready = new Promise<void>((resolve) => (release = resolve));
  const collector = new Collector();
  const s = follow(server, collector);
  await collector.isLive();
  server.send(1, { type: "run.completed", run: run("r1", "completed") });
  server.send(2, { type: "pending.settled", pendingAction: pending("p1", "answered") });
  server.send(3, { type: "run.started", run: run("r2", "running") });
  await collector.has("run.started");
  release();
  await collector.has("local.loaded");
  const { runs, pending: actions } = stateOf(s);
  expect(runs.map((r) => `${r.id} ${r.status}`)).toEqual(["r1 completed", "r2 running"]);
  expect(actions.map((p) => `${p.id} ${p.status}`)).toEqual(["p1 answered"]);
});

it("restarts the stream without a cursor after a gap", async () => {
  const server = new FakeServer();
  const collector = new Collector();
  follow(server, collector);
  await collector.isLive();
  server.send(7, { type: "snapshot", space: space(0), messages: [{ id: "m1", spaceId: "shop", seq: 3, status: "streaming", entityId: "bot", mentions: [], parts: [{ id: "t", type: "text", text: "ab", status: "streaming" }] }] });
  server.send(8, { type: "text-delta", messageId: "m1", partId: "t", offset: 9, delta: "x" } as Partial<ServerEvent>);
  await collector.has("local.restarted", 2);
  expect(server.requests.filter((r) => r.includes("/events"))).toEqual(["/v1/sessions/default/events as ann", "/v1/sessions/default/events as ann"]);
}, 10_000);

it("corrects the unread counts on retryNow", async () => {
  const server = new FakeServer();
  const collector = new Collector();
  const s = follow(server, collector);
  await collector.isLive();
  server.send(1, { type: "snapshot", space: space(2), messages: [] });
  await collector.has("snapshot");
  server.lists.spaces = [space(0)];
  s.retryNow();
  await collector.has("local.read");
  expect(stateOf(s).spaces.map((l) => l.space.unreadCount)).toEqual([0]);
});

it("follows again for a subscriber that joins after the credentials were refused", async () => {
  const server = new FakeServer();
  server.status = 401;
  const first = new Collector();
  const s = follow(server, first);
  await first.until((u) => u.kind === "connection" && u.connection.state === "signed-out");
  server.status = 200;
  const second = new Collector();
  s.join(second.receive);
  await second.isLive();
  expect(s.leave(first.receive)).toBe(true);
  expect(s.leave(second.receive)).toBe(false);
});
