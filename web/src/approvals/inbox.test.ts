// Which actions wait for whom, their order, and which can be decided together.
import { describe, expect, test } from "vitest";
import type { Space } from "@shoal-dev/client";
import { aMessage, aPending, at } from "@/runs/testing";
import { alike, gist, inOrder, isMine } from "./inbox";
import { subject } from "./subject";
import { around } from "./queries";
import { settledWords } from "./settled";

const member = (entityId: string) => ({ entityId, kind: "human" as const, name: entityId, joinedAt: at(0), addedBy: null });
const harbour: Space = { id: "harbour", sessionId: "default", name: "Harbour", status: "open", summary: null, ownerId: null, adminAgentId: null, showAgentReasoning: false, metadata: {}, members: [member("ann"), member("shop")], memberCount: 2, lastSeq: 0, unreadCount: 0, mentionCount: 0, firstUnreadSeq: 0, muted: false, createdAt: at(0), closedAt: null };

describe("isMine", () => {
  const asked = aPending({});
  test("has what the server lists for an entity", () => {
    expect(isMine(asked, "ann", [harbour], new Set(["pnd_1"]))).toBe(true);
    expect(isMine(asked, "ann", [harbour], new Set())).toBe(false);
  });

  test("has the requests in the entity's spaces for an admin that acts as it, except the entity's own", () => {
    expect(isMine(asked, "ann", [harbour], undefined)).toBe(true);
    expect(isMine(asked, "bob", [harbour], undefined)).toBe(false);
    expect(isMine(asked, "shop", [harbour], undefined)).toBe(false);
    expect(isMine(aPending({ spaceId: null }), "ann", [harbour], undefined)).toBe(false);
  });

  test("has everything for an admin that acts as no entity", () => {
    expect(isMine(aPending({ spaceId: null }), null, [], undefined)).toBe(true);
  });
});

test("sorts by deadline, then by age, without settled actions", () => {
  const all = [aPending({ id: "new", createdAt: at(9) }), aPending({ id: "old", createdAt: at(1) }), aPending({ id: "due", createdAt: at(9), expiresAt: at(500) }), aPending({ id: "sooner", createdAt: at(9), expiresAt: at(400) }), aPending({ id: "done", status: "answered" })];
  expect(inOrder(all).map((p) => p.id)).toEqual(["sooner", "due", "old", "new"]);
});

test("groups only open permissions for one tool of one agent", () => {
  const one = aPending({ id: "1", kind: "permission" });
  const all = [one, aPending({ id: "2", kind: "permission" }), aPending({ id: "3", kind: "permission", toolName: "pay" }), aPending({ id: "4", kind: "permission", agentId: "other" }), aPending({ id: "5" }), aPending({ id: "6", kind: "permission", status: "answered" })];
  expect(alike(one, all).map((p) => p.id)).toEqual(["1", "2"]);
  expect(alike(aPending({}), all)).toEqual([]);
});

test("summarises a question with its options, and a tool with its arguments", () => {
  const question = aPending({ kind: "question", question: "Which day?", options: ["Saturday", "Sunday"] });
  expect([subject(question), gist(question)]).toEqual(["Which day?", "Saturday, Sunday"]);
  const call = aPending({ toolName: "payNow", args: { to: "Ann", lines: [1, 2], price: 1200, currency: "USD" } });
  expect([subject(call), gist(call)]).toEqual(["Pay now", "To: Ann, Lines: [1,2], Price: $1,200"]);
});

describe("the outcome", () => {
  const name = (id: string) => ({ ada: "Ada" })[id] ?? id;
  test("names who approved, denied or answered", () => {
    const decided = (approved: boolean, ask: string | null = null) => aPending({ kind: "permission", status: "answered", answeredBy: "ada", decision: { approved, by: "ada", reason: null, ask } });
    expect(settledWords(decided(true), name)).toBe("Ada approved");
    expect(settledWords({ ...decided(true), editedArgs: {} }, name)).toBe("Ada approved with changes");
    expect(settledWords(decided(false), name)).toBe("Ada denied");
    expect(settledWords(decided(false, "Which one?"), name)).toBe("Ada sent it back with a question");
    expect(settledWords(aPending({ status: "answered" }), name)).toBe("An admin or a service answered");
    expect(settledWords(aPending({ status: "expired" }), name)).toBe("Nobody answered in time");
  });
});

test("the context has the message with the request and those before it", () => {
  const all = ["a", "b", "c", "d", "e"].map((id, i) => aMessage({ id, seq: i + 1 }));
  expect(around(all, "e", 3).map((m) => m.id)).toEqual(["b", "c", "d", "e"]);
  expect(around(all, "b", 3).map((m) => m.id)).toEqual(["a", "b"]);
  expect(around(all, "x", 3)).toEqual([]);
});
