// A follower of a real HTTP server that closes connections and refuses requests.
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { type Connection, Follower } from "./follower.js";
import type { ServerEvent } from "./types.js";

let server: Server;
let follower: Follower | undefined;
afterEach(() => {
  follower?.stop();
  server.closeAllConnections();
  server.close();
});

type Serve = (n: number, cursor: string | undefined, out: ServerResponse) => void;

async function serve(answer: Serve): Promise<string> {
  let n = 0;
  server = createServer((request, out) => {
    const sent = request.headers["last-event-id"];
    answer(n++, typeof sent === "string" ? sent : undefined, out);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`;
}

interface Received {
  text: string;
  states: string[];
  fresh: boolean[];
}

function follow(url: string, until: (received: Received, c: Connection) => boolean): Promise<Received> {
  const received: Received = { text: "", states: [], fresh: [] };
  return new Promise((resolve) => {
    follower = new Follower(fetch, url, "ann", {
      onOpen: (fresh) => void received.fresh.push(fresh),
      onEvents: (events) => {
        for (const e of events as unknown as { delta: string }[]) received.text += e.delta;
        if (until(received, { state: "live" })) resolve(received);
      },
      onConnection: (c) => {
        received.states.push(c.state);
        if (until(received, c)) resolve(received);
      },
    });
  });
}

const frame = (n: number, delta: string) => `id: ${n}\nevent: text-delta\ndata: ${JSON.stringify({ type: "text-delta", delta } as Partial<ServerEvent>)}\n\n`;
const story = "A school of fish, größer than 🐟 and 🐠.";
const letters = [...story];

it("resumes after connections that end in the middle of an event", async () => {
  const url = await serve((n, cursor, out) => {
    out.writeHead(200, { "Content-Type": "text/event-stream" });
    const from = cursor === undefined ? 0 : Number(cursor) + 1;
    for (let i = from; i < Math.min(from + 7, letters.length); i++) out.write(frame(i, letters[i] ?? ""));
    // Half an event, then the connection is closed.
    out.write(frame(from + 7, "lost").slice(0, 25 + n), () => out.destroy());
  });
  const received = await follow(url, (h) => h.text.length >= story.length);
  expect(received.text).toBe(story);
  expect(received.fresh[0]).toBe(true);
  expect(received.fresh.slice(1).every((f) => !f)).toBe(true);
}, 30_000);

it.each([
  [401, "signed-out"],
  [404, "gone"],
  [403, "gone"],
])("does not reconnect after status %i", async (status, state) => {
  let calls = 0;
  const url = await serve((_, __, out) => {
    calls++;
    out.writeHead(status, { "Content-Type": "application/problem+json" }).end(JSON.stringify({ detail: "no" }));
  });
  const received = await follow(url, (_, c) => c.state === state);
  expect(received.states).toEqual(["connecting", state]);
  expect(calls).toBe(1);
});

it("reconnects after an error, and reports that it is offline", async () => {
  const url = await serve((n, _, out) => {
    if (n === 0) return void out.writeHead(503).end();
    out.writeHead(200, { "Content-Type": "text/event-stream" }).write(frame(1, "back"));
  });
  const received = await follow(url, (h) => h.text === "back");
  expect(received.states).toEqual(["connecting", "offline", "live"]);
});

it("reconnects without a cursor on restart", async () => {
  const cursors: (string | undefined)[] = [];
  const url = await serve((n, cursor, out) => {
    cursors.push(cursor);
    out.writeHead(200, { "Content-Type": "text/event-stream" }).write(frame(n, String(n)));
  });
  let restarted = false;
  await follow(url, (h) => {
    if (h.text === "0" && !restarted) {
      restarted = true;
      follower?.restart();
    }
    return h.text === "01";
  });
  expect(cursors).toEqual([undefined, undefined]);
}, 10_000);

it("starts again if the connection breaks between the snapshots of a session", async () => {
  const cursors: (string | undefined)[] = [];
  const url = await serve((n, cursor, out) => {
    cursors.push(cursor);
    out.writeHead(200, { "Content-Type": "text/event-stream" });
    const snapshot = (id: number) => `id: ${id}\nevent: snapshot\ndata: {"type":"snapshot","delta":"s"}\n\n`;
    if (n === 0) return void out.write(snapshot(1), () => out.destroy());
    out.write(snapshot(1) + snapshot(1) + 'id: 1\nevent: snapshot.end\ndata: {"type":"snapshot.end","delta":"."}\n\n', () => n === 1 && out.destroy());
  });
  await new Promise<void>((resolve) => {
    follower = new Follower(fetch, url, "ann", { onOpen: () => void (cursors.length === 3 && resolve()), onEvents: () => undefined, onConnection: () => undefined }, true);
  });
  expect(cursors).toEqual([undefined, undefined, "1"]);
});
