// Calls of a real HTTP server: what they send, and what they make of responses.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { createClient } from "./client.js";
import { ShoalError } from "./errors.js";
import { allPages } from "./request.js";
import { entityHeader, type Transport } from "./transport.js";

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

let server: Server | undefined;
afterEach(() => void server?.close());

/** Starts a server that responds with `answer`. Returns its transport, and the requests as they arrive. */
async function serve(answer: (out: ServerResponse, seen: Seen) => void): Promise<{ transport: Transport; seen: Seen[] }> {
  const seen: Seen[] = [];
  server = createServer(async (request, out) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const one = { method: request.method, url: request.url, headers: request.headers, body };
    seen.push(one);
    answer(out, one);
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { transport: (path, request) => fetch(base + path, request), seen };
}

const json = (value: unknown, status = 200) => (out: ServerResponse) => void out.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));

it("fills and encodes the path, and leaves out undefined query values", async () => {
  const { transport, seen } = await serve(json({ items: [], nextCursor: null }));
  await createClient(transport).GET("/v1/sessions/{session}/spaces", { params: { path: { session: "a/b c" }, query: { limit: 20, cursor: undefined } } });
  await createClient(transport).GET("/v1/sessions/{session}/search", { params: { path: { session: "s" }, query: { q: "größe & more" } } });
  expect(seen.map((s) => s.url)).toEqual(["/v1/sessions/a%2Fb%20c/spaces?limit=20", `/v1/sessions/s/search?q=${encodeURIComponent("größe & more")}`]);
  expect(seen[0]?.headers["content-type"]).toBeUndefined();
});

it("sends the body as JSON, and returns the parsed response", async () => {
  const { transport, seen } = await serve(json({ text: "x" }));
  const result: unknown = await createClient(transport).POST("/v1/sessions/{session}/spaces/{space}/read", { params: { path: { session: "s", space: "shop" } }, body: { seq: 7 } });
  expect(result).toEqual({ text: "x" });
  expect(seen[0]).toMatchObject({ method: "POST", body: '{"seq":7}', headers: { "content-type": "application/json" } });
});

it("keeps all digits of numbers in JSON text", async () => {
  const { transport, seen } = await serve((out, { body }) => void out.end(body));
  const text = '{"system":"x","temperature":0.10000000000000000001}';
  expect(await createClient(transport).PUT.text("/v1/sessions/{session}/agents/{agent}", { params: { path: { session: "s", agent: "bot" } }, jsonText: text })).toBe(text);
  expect(seen[0]?.headers["content-type"]).toBe("application/json");
});

it("acts as the entity, unless the call names another one", async () => {
  const { transport, seen } = await serve(json({}));
  let acting: string | null = null;
  const api = createClient(transport, () => acting);
  await api.GET("/v1/me");
  acting = "ann";
  await api.GET("/v1/me");
  await api.GET("/v1/me", { headers: { [entityHeader]: "" } });
  expect(seen.map((s) => s.headers["x-shoal-entity"])).toEqual([undefined, "ann", ""]);
});

it("returns undefined for an empty response", async () => {
  const { transport } = await serve((out) => void out.writeHead(204).end());
  expect(await createClient(transport).DELETE("/v1/sessions/{session}/entities/{entity}", { params: { path: { session: "s", entity: "bot" } } })).toBeUndefined();
});

it("throws the problem of an error response", async () => {
  const { transport } = await serve(json({ code: "invalid_argument", detail: "name is empty", errors: [{ location: "body.name", message: "is empty" }], requestId: "r1" }, 422));
  const error: unknown = await createClient(transport).GET("/v1/me").catch((e: unknown) => e);
  expect(error).toBeInstanceOf(ShoalError);
  expect(error).toMatchObject({ status: 422, code: "invalid_argument", message: "name is empty", requestId: "r1" });
  expect((error as ShoalError).at("body.name")).toBe("is empty");
  expect((error as ShoalError).at("body.id")).toBeUndefined();
});

it.each([
  [502, "unreachable", "The server returned status 502."],
  [200, "internal", "The response is not JSON. A proxy may have replaced it."],
])("throws an error for a page of a proxy with status %i", async (status, code, message) => {
  const { transport } = await serve((out) => void out.writeHead(status, { "Content-Type": "text/html" }).end("<h1>Gateway</h1>"));
  await expect(createClient(transport).GET("/v1/me")).rejects.toMatchObject({ code, message });
});

it("throws unreachable without a response", async () => {
  const { transport } = await serve((out) => void out.destroy());
  await expect(createClient(transport).GET("/v1/me")).rejects.toMatchObject({ status: 0, code: "unreachable" });
});

it("passes on a problem of the transport", async () => {
  const refused = new ShoalError(0, "storage_hangs", "no");
  await expect(createClient(() => Promise.reject(refused)).GET("/v1/me")).rejects.toBe(refused);
});

it("checks paths, parameters and bodies against the OpenAPI document", () => {
  const api = createClient(() => Promise.reject(new Error("only the types matter")));
  const checked = [
    // @ts-expect-error there is no such path
    () => api.GET("/v1/nothing"),
    // @ts-expect-error the path needs a session
    () => api.GET("/v1/sessions/{session}/spaces"),
    // @ts-expect-error the query has no such parameter
    () => api.GET("/v1/sessions/{session}/spaces", { params: { path: { session: "s" }, query: { nothing: 1 } } }),
    // @ts-expect-error the body is missing
    () => api.POST("/v1/keys", {}),
    // @ts-expect-error the body has no such role
    () => api.POST("/v1/keys", { body: { role: "nobody" } }),
    // @ts-expect-error GET has no body
    () => api.GET("/v1/me", { body: {} }),
  ];
  expect(checked).toHaveLength(6);
});

it("reads all pages of a list up to the limit", async () => {
  const page = (n: number) => ({ items: [n, n + 0.5], nextCursor: n === 3 ? null : String(n + 1) });
  const cursors: (string | undefined)[] = [];
  const read = (cursor: string | undefined) => Promise.resolve((cursors.push(cursor), page(Number(cursor ?? 0))));
  expect(await allPages(read)).toEqual([0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5]);
  expect(cursors).toEqual([undefined, "1", "2", "3"]);
  expect(await allPages(read, 3)).toEqual([0, 0.5, 1, 1.5]);
});
