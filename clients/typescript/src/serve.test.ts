// A program that serves an agent, against a server that refuses for a moment what is right.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { serveAgent } from "./serve.js";
import { Shoal } from "./shoal.js";

const codes: Record<number, string> = { 409: "conflict", 410: "expired", 503: "busy" };

/** Executes one run with a server whose first answers about orders and reports are these statuses. Returns how the run ended, what was reported, and what the second claim says. */
async function run(orders: number[], work: number[]): Promise<{ ended: unknown; lines: string[]; holds: unknown }> {
  const stop = new AbortController();
  const lines: string[] = [];
  let claims = 0;
  let ended: unknown;
  let again = (_: unknown): void => undefined;
  const second = new Promise((resolve) => (again = resolve));
  let well = (): void => undefined;
  const followed = new Promise<void>((resolve) => (well = resolve));
  const server = createServer(async (request, out) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const answer = (status: number, value: unknown): void => void out.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
    const url = request.url ?? "";
    const refusal = url.includes("/orders") ? orders.shift() : url.includes("work?") ? work.shift() : undefined;
    if (refusal !== undefined) answer(refusal, { code: codes[refusal], detail: "No." });
    else if (url.includes("/claim")) {
      if (claims++ === 0) answer(200, { items: [{ run: { id: "run_1" }, generation: 1, leaseMs: 30_000, calls: [], written: [], members: [] }] });
      else again((JSON.parse(body) as { holds: unknown }).holds);
    } else if (url.includes("/orders")) {
      out.writeHead(200, { "Content-Type": "text/event-stream" }).write(": welcome\n\n");
      well();
    } else {
      for (const line of body.split("\n").filter((l) => l !== "")) if ((JSON.parse(line) as { n: number }).n === lines.length + 1) lines.push((JSON.parse(line) as { type: string }).type);
      answer(200, { n: lines.length, status: "running" });
      if (lines.at(-1) === "turn.ended") stop.abort();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const shoal = new Shoal({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: "secret" });
  let holds: unknown;
  try {
    await serveAgent(shoal, "clerk", async (w) => {
      const lost = new Promise<void>((resolve) => w.signal.addEventListener("abort", () => resolve()));
      holds = await second;
      await Promise.race([followed, lost]);
      if (w.signal.aborted) {
        ended = (w.signal.reason as Error).constructor.name;
        stop.abort();
      } else await w.text("Done.");
    }, { signal: stop.signal });
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return { ended, lines, holds };
}

it.each([
  ["orders are refused once", [409], []],
  ["orders are refused, and so is the check for now", [409], [200, 503]],
  ["a report is refused, and so is the check for now", [], [409, 503]],
])("goes on when %s", async (_, orders, work) => {
  expect(await run(orders, work)).toEqual({ ended: undefined, lines: ["turn.started", "text", "turn.ended"], holds: ["run_1"] });
});

it("ends when a check says so", async () => {
  expect(await run([409], [409, 409])).toMatchObject({ ended: "LeaseLostError" });
});
