// Streams cut anywhere are the same streams.
import { expect, it } from "vitest";
import { EventParser, type SentEvent } from "./sse.js";

const bytes = new TextEncoder();

function parse(text: string, size: number): SentEvent[] {
  const parser = new EventParser();
  const all = bytes.encode(text);
  const out: SentEvent[] = [];
  for (let i = 0; i < all.length; i += size) out.push(...parser.feed(all.subarray(i, i + size)));
  return out;
}

const streams: [string, string, SentEvent[]][] = [
  ["an event", "id: 7\nevent: text-delta\ndata: {}\n\n", [{ id: "7", type: "text-delta", data: "{}" }]],
  ["its id stays for those without one", "id: 7\ndata: a\n\ndata: b\n\n", [{ id: "7", type: "message", data: "a" }, { id: "7", type: "message", data: "b" }]],
  ["comments and unknown fields", ": beat\n\nretry: 1000\nfoo: bar\ndata: x\n\n", [{ id: undefined, type: "message", data: "x" }]],
  ["several lines of data", "data: a\ndata:b\ndata:  c\n\n", [{ id: undefined, type: "message", data: "a\nb\n c" }]],
  ["all line ends", "data: a\r\n\r\ndata: b\r\rdata: c\n\n", [{ id: undefined, type: "message", data: "a" }, { id: undefined, type: "message", data: "b" }, { id: undefined, type: "message", data: "c" }]],
  ["characters of several bytes", "data: größe 🐟\n\n", [{ id: undefined, type: "message", data: "größe 🐟" }]],
  ["an event without its end is not delivered", "data: a\n\ndata: b\n", [{ id: undefined, type: "message", data: "a" }]],
];

for (const [name, text, want] of streams) {
  it.each([1, 2, 3, 5, 1000])(`${name}, in pieces of %i bytes`, (size) => expect(parse(text, size)).toEqual(want));
}

it("an event of many megabytes in small pieces takes no longer than its bytes", () => {
  const from = performance.now();
  const [event] = parse(`data: ${"x".repeat(16 << 20)}\n\n`, 8 << 10);
  expect(event?.data.length).toBe(16 << 20);
  expect(performance.now() - from).toBeLessThan(5000);
});
