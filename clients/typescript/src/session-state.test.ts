// What the page knows after events, as tables and short stories.
import { describe, expect, it } from "vitest";
import type { Message, Part, PendingAction, Run, ServerEvent, Space } from "./types.js";
import { limits } from "./limits.js";
import { byteLength, byteSlice } from "./utf8.js";
import { SessionState, type LiveEvent, reasoningKey } from "./session-state.js";
import { completeMembers } from "./partial-json.js";

const at = "2026-11-22T10:00:00.000Z";

function space(id: string, more: Partial<Space> = {}): Space {
  return {
    id, sessionId: "default", name: id, status: "open", summary: null, ownerId: null, adminAgentId: null, showAgentReasoning: false, metadata: {},
    members: [{ entityId: "ann", kind: "human", name: "Ann", joinedAt: at, addedBy: null }, { entityId: "bot", kind: "agent", name: "Bot", joinedAt: at, addedBy: null }],
    memberCount: more.members?.length ?? 2, lastSeq: 0, unreadCount: 0, mentionCount: 0, firstUnreadSeq: 0, muted: false, createdAt: at, closedAt: null, ...more,
  };
}

function message(id: string, seq: number, parts: Part[], more: Partial<Message> = {}): Message {
  return {
    id, sessionId: "default", spaceId: "shop", seq, entityId: "bot", runId: "run_1", status: "streaming", mentions: [], droppedMentions: [], onBehalfOf: [], replyTo: null, reactions: [], deletedAt: null, editedAt: null,
    createdAt: at, updatedAt: at, parts, ...more,
  };
}

const text = (words: string, status: "streaming" | "done" | "interrupted" = "streaming"): Part => ({ id: "p1", type: "text", text: words, status });
const snapshot = (s: Space, messages: Message[]): ServerEvent => ({ type: "snapshot", spaceId: s.id, runId: null, at, space: s, members: s.members, messages, cursor: "c" });
const end: ServerEvent = { type: "snapshot.end", spaceId: null, runId: null, at, cursor: "c" };
const head = { spaceId: "shop", runId: "run_1", at, messageId: "m1", partId: "p1" };
const delta = (offset: number, words: string): ServerEvent => ({ type: "text-delta", ...head, offset, delta: words });
const created = (m: Message): ServerEvent => ({ type: "message.created", spaceId: m.spaceId, runId: m.runId, at, message: m });

function after(...events: LiveEvent[]): SessionState {
  const live = new SessionState("ann");
  for (const e of events) live.apply(e);
  return live;
}

function words(live: SessionState, id = "m1"): string {
  const part = live.messages.get(id)?.parts[0];
  return part?.type === "text" ? part.text : "";
}

describe("a text that grows", () => {
  const begin = [snapshot(space("shop"), []), created(message("m1", 1, [])), { type: "text-start", ...head } as ServerEvent];

  it("is its deltas, in bytes of UTF-8", () => {
    const live = after(...begin, delta(0, "Größe "), delta(8, "🐟"), delta(12, "!"));
    expect(words(live)).toBe("Größe 🐟!");
    expect(live.gap).toBe(false);
  });

  it("takes a delta once, and the new half of one that overlaps", () => {
    const live = after(...begin, delta(0, "ab"), delta(0, "ab"), delta(1, "bcä"), delta(3, "äd"));
    expect(words(live)).toBe("abcäd");
  });

  it("asks for a fresh start when a delta leaves a hole", () => {
    const live = after(...begin, delta(0, "ab"), delta(5, "x"));
    expect(live.gap).toBe(true);
    expect(words(live)).toBe("ab");
  });

  it("continues the text of a snapshot", () => {
    const live = after(snapshot(space("shop"), [message("m1", 1, [text("Grö")])]), delta(4, "ße"));
    expect(words(live)).toBe("Größe");
  });

  it("is cut back when the model's call is tried again", () => {
    const live = after(...begin, delta(0, "äb"), { type: "part.reset", ...head, offset: 2 }, delta(2, "c"));
    expect(words(live)).toBe("äc");
  });

  it("ends as it is stored", () => {
    const live = after(...begin, delta(0, "ab"), { type: "text-end", ...head, text: "abc", status: "interrupted" });
    expect(live.messages.get("m1")?.parts[0]).toMatchObject({ text: "abc", status: "interrupted" });
    expect(live.streaming.size).toBe(0);
  });

  it("does not lose text when the message is delivered again", () => {
    const older = message("m1", 1, [text("a")]);
    const live = after(...begin, delta(0, "abc"), { type: "message.updated", spaceId: "shop", runId: "run_1", at, message: older }, delta(3, "d"));
    expect(words(live)).toBe("abcd");
  });

  it("changes nothing in place", () => {
    const live = after(...begin, delta(0, "a"));
    const before = live.messages.get("m1");
    expect(live.apply(delta(1, "b"))).toEqual(new Set(["message:m1"]));
    expect(before?.parts[0]).toMatchObject({ text: "a" });
  });
});

describe("arguments of a tool that grow", () => {
  const start: ServerEvent = { type: "tool-input-start", ...head, toolCallId: "c1", toolName: "card" };
  const input = (offset: number, json: string): ServerEvent => ({ type: "tool-input-delta", ...head, toolCallId: "c1", toolName: "card", offset, delta: json });
  const part = (live: SessionState) => live.messages.get("m1")?.parts[0];

  it("are shown member by member", () => {
    const live = after(snapshot(space("shop"), []), created(message("m1", 1, [])), start, input(0, '{"name":"Lark'), input(13, ' Air","price":11'));
    expect(part(live)).toMatchObject({ status: "input_streaming", args: { name: "Lark Air" } });
    live.apply({ type: "tool-input-available", ...head, toolCallId: "c1", toolName: "card", args: { name: "Lark Air", price: 1199 } });
    expect(part(live)).toMatchObject({ status: "running", args: { name: "Lark Air", price: 1199 } });
    live.apply({ type: "tool-output-available", ...head, toolCallId: "c1", toolName: "card", status: "done", result: { chosen: true }, error: null, answeredBy: "ann", decision: null });
    expect(part(live)).toMatchObject({ status: "done", result: { chosen: true }, answeredBy: "ann" });
  });

  it("wait for the whole where the beginning was missed", () => {
    const half: Part = { id: "p1", type: "tool_call", toolCallId: "c1", toolName: "card", args: {}, result: null, error: null, status: "input_streaming", display: null, answeredBy: null, editedArgs: null, decision: null, targetEntityId: null };
    const live = after(snapshot(space("shop"), [message("m1", 1, [half])]), input(9, '"x":1}'));
    expect(live.gap).toBe(false);
    expect(part(live)).toMatchObject({ args: {} });
  });
});

it.each([
  ["", {}],
  ["{", {}],
  ['{"a":1', {}],
  ['{"a":1,', { a: 1 }],
  ['{"a":"x,y","b":[1,{"c":2', { a: "x,y" }],
  ['{"a":{"b":"}"},"c":"\\"', { a: { b: "}" } }],
  ['{"a":1}', { a: 1 }],
  ["[1,2", {}],
  ["null", {}],
])("of %s the whole members are shown", (json, want) => expect(completeMembers(json)).toEqual(want));

describe("counts", () => {
  const shop = snapshot(space("shop"), []);
  it.each<[string, LiveEvent[], number, number]>([
    ["a message by somebody else is unread", [created(message("m1", 1, [], { status: "completed", entityId: "bot", runId: null }))], 1, 0],
    ["one that mentions the reader counts as that, too", [created(message("m1", 1, [], { status: "completed", mentions: ["ann"] }))], 1, 1],
    ["the reader's own is not", [created(message("m1", 1, [], { status: "completed", entityId: "ann" }))], 0, 0],
    ["a composite message is once it is whole", [created(message("m1", 1, [])), { type: "text-start", ...head }, delta(0, "a"), delta(1, "b")], 0, 0],
    ["… whole", [created(message("m1", 1, [])), { type: "message.completed", spaceId: "shop", runId: "run_1", at, message: message("m1", 1, [], { status: "completed" }) }], 1, 0],
    ["and delivered twice it counts once", [created(message("m1", 1, [], { status: "completed" })), created(message("m1", 1, [], { status: "completed" }))], 1, 0],
    ["a system message for somebody else is not", [created(message("m1", 1, [], { status: "completed", entityId: "system", mentions: ["bot"] }))], 0, 0],
    ["one for the reader is, and is not a mention", [created(message("m1", 1, [], { status: "completed", entityId: "system", mentions: ["ann"] }))], 1, 0],
    ["where the reader has muted the space only what mentions it is", [{ type: "local.read", space: space("shop", { muted: true }) }, created(message("m1", 1, [], { status: "completed" })), created(message("m2", 2, [], { status: "completed", mentions: ["ann"] }))], 1, 1],
    ["what was read is read", [created(message("m1", 1, [], { status: "completed" })), { type: "local.read", space: space("shop") }], 0, 0],
  ])("%s", (_, events, unread, mentions) => {
    expect(after(shop, ...events).spaces.get("shop")?.space).toMatchObject({ unreadCount: unread, mentionCount: mentions });
  });

  it("name the oldest unread message, also when it is completed after later ones", () => {
    const first = (...events: LiveEvent[]) => after(shop, ...events).spaces.get("shop")?.space.firstUnreadSeq;
    const whole = (seq: number, entityId = "bot") => created(message(`m${seq}`, seq, [], { status: "completed", entityId }));
    expect(first()).toBe(0);
    expect(first(whole(1, "ann"), whole(2), whole(3))).toBe(2);
    const streamed = created(message("m1", 1, []));
    const completed: LiveEvent = { type: "message.completed", spaceId: "shop", runId: "run_1", at, message: message("m1", 1, [], { status: "completed" }) };
    expect(first(streamed, whole(2), completed)).toBe(1);
    const read = { type: "local.read", space: space("shop", { lastSeq: 2 }) } as const;
    expect(first(whole(1), whole(2), read)).toBe(0);
    expect(first(whole(1), whole(2), read, whole(3))).toBe(3);
  });
});

describe("spaces", () => {
  it("missing from a full set of snapshots are removed", () => {
    const live = after(snapshot(space("shop"), [message("m1", 1, [])]), snapshot(space("gone"), []), end);
    live.apply({ type: "local.restarted" });
    for (const e of [snapshot(space("shop"), [message("m1", 1, [])]), end]) live.apply(e);
    expect([...live.spaces.keys()]).toEqual(["shop"]);
  });

  it("keep older pages that join the newest without a hole, and no others", () => {
    const m = (n: number) => message(`m${n}`, n, [], { status: "completed" });
    const live = after(snapshot(space("shop"), [m(3), m(4)]), { type: "local.older", spaceId: "shop", messages: [m(1), m(2)] });
    expect(live.spaces.get("shop")?.order).toEqual(["m1", "m2", "m3", "m4"]);
    live.apply(snapshot(space("shop"), [m(3), m(4), m(5)]));
    expect(live.spaces.get("shop")?.order).toEqual(["m1", "m2", "m3", "m4", "m5"]);
    live.apply(snapshot(space("shop"), [m(9)]));
    expect(live.spaces.get("shop")?.order).toEqual(["m9"]);
    expect([...live.messages.keys()]).toEqual(["m9"]);
  });

  it("keep their members if an update does not include them", () => {
    const live = after(snapshot(space("shop"), []), end, { type: "space.closed", spaceId: "shop", runId: null, at, space: space("shop", { members: [], status: "closed" }) });
    expect(live.spaces.get("shop")?.space).toMatchObject({ status: "closed", members: [{ entityId: "ann" }, { entityId: "bot" }] });
  });

  it("that are deleted are removed, also for an admin", () => {
    const live = new SessionState("ann", false);
    const deleted: ServerEvent = { type: "space.deleted", spaceId: "shop", runId: null, at };
    for (const e of [snapshot(space("shop"), [message("m1", 1, [])]), end, deleted]) live.apply(e);
    expect([live.spaces.has("shop"), live.messages.has("m1")]).toEqual([false, false]);
  });

  it("that the reader has left are removed, but stay for an admin", () => {
    const left: ServerEvent = { type: "member.left", spaceId: "shop", runId: null, at, member: { entityId: "ann", kind: "human", name: "Ann", joinedAt: at, addedBy: null }, memberCount: 1 };
    for (const [own, there] of [[true, false], [false, true]] as const) {
      const live = new SessionState("ann", own);
      for (const e of [snapshot(space("shop"), [message("m1", 1, [])]), end, left]) live.apply(e);
      expect([live.spaces.has("shop"), live.messages.has("m1")]).toEqual([there, there]);
    }
  });

  it("order messages by seq, however they come", () => {
    const live = after(snapshot(space("shop"), []), created(message("m2", 2, [])), created(message("m1", 1, [])));
    expect(live.spaces.get("shop")?.order).toEqual(["m1", "m2"]);
  });
});

describe("what waits", () => {
  const pending = (id: string, status: PendingAction["status"]): PendingAction => ({
    id, kind: "permission", runId: "run_1", agentId: "bot", spaceId: "shop", messageId: "m1", partId: "p1", toolCallId: "c1", toolName: "order", args: {},
    question: null, options: null, resultSchema: null, status, expiresAt: null, createdAt: at, answeredBy: null, answeredAt: null, by: null, quorum: 1, notRequester: false, choose: null, votes: [], eligible: 1, requesters: [], argsHash: "", argsSchema: null, editedArgs: null, decision: null, triggerText: null, triggerEditedAt: null, 
  });
  const opened = (id: string): LiveEvent => ({ type: "pending.opened", spaceId: "shop", runId: "run_1", at, pendingAction: pending(id, "open") });

  it("once settled is not opened by an older word", () => {
    const live = after(opened("x"), { type: "pending.settled", spaceId: "shop", runId: "run_1", at, pendingAction: pending("x", "answered") }, opened("x"));
    expect(live.pending.get("x")?.status).toBe("answered");
  });

  it("and is not in the list any more was settled unseen", () => {
    const live = after(opened("x"), opened("y"), { type: "local.loaded", entities: [], runs: [], pending: [pending("y", "open")] });
    expect([...live.pending.keys()]).toEqual(["y"]);
  });
});

it("an ended run stays ended", () => {
  const run = (status: Run["status"]) => ({ id: "run_1", status }) as Run;
  const report = (status: Run["status"]): LiveEvent => ({ type: "run.started", spaceId: "shop", runId: "run_1", at, run: run(status) });
  expect(after(report("failed"), report("running")).runs.get("run_1")?.status).toBe("failed");
});

it("a copy for another thread is the same", () => {
  const live = after(snapshot(space("shop"), [message("m1", 1, [text("ab")])]), created(message("m2", 2, [])));
  const copy = SessionState.from(structuredClone(live.dump()), "ann");
  copy.apply(delta(2, "c"));
  expect(words(copy)).toBe("abc");
  expect(copy.spaces).toEqual(live.spaces);
});

it("a copy that is made between two snapshots loses no space when they are all there", () => {
  const live = after({ type: "local.restarted" }, snapshot(space("shop"), []));
  const copy = SessionState.from(structuredClone(live.dump()), "ann");
  for (const e of [snapshot(space("lab"), []), end]) copy.apply(e);
  expect([...copy.spaces.keys()]).toEqual(["shop", "lab"]);
});

describe("active runs", () => {
  const run = (id: string, status: Run["status"]) => ({ id, status }) as Run;
  const loaded = (...runs: Run[]): LiveEvent => ({ type: "local.loaded", entities: [], pending: [], runs });

  it("that a full list does not hold any more have ended unseen", () => {
    const live = after(loaded(run("a", "running"), run("b", "waiting_tool")), loaded(run("b", "running")));
    expect([...live.runs.values()].map((r) => `${r.id} ${r.status}`)).toEqual(["b running"]);
  });
});

describe("a page that stays open for weeks", () => {
  it("keeps the newest messages of a space, and no data of evicted ones", () => {
    const live = after(snapshot(space("shop"), []));
    for (let n = 1; n <= 5000; n++) live.apply(created(message(`m${n}`, n, [{ ...text("a"), id: `p${n}` } as Part])));
    const { order } = live.spaces.get("shop") ?? { order: [] };
    expect(order.length).toBeLessThanOrEqual(limits.messages);
    expect(order.length).toBeGreaterThanOrEqual(limits.messages / 2);
    expect(order[order.length - 1]).toBe("m5000");
    expect([live.messages.size, live.streaming.size]).toEqual([order.length, order.length]);
  });

  it("keeps the last runs with their reasoning, and all running ones", () => {
    const live = after();
    const report = (id: string, status: Run["status"]) => live.apply({ type: "run.started", spaceId: "shop", runId: id, at, run: { id, status } as Run });
    report("at-work", "running");
    for (let n = 0; n < 2000; n++) {
      live.apply({ type: "reasoning-start", spaceId: "shop", runId: `r${n}`, at } as LiveEvent);
      report(`r${n}`, "completed");
    }
    expect(live.runs.size).toBeLessThanOrEqual(limits.runs);
    expect([live.runs.has("at-work"), live.runs.has("r1999"), live.streaming.has(reasoningKey("r1999", "shop"))]).toEqual([true, true, true]);
    expect(live.streaming.size).toBeLessThanOrEqual(limits.runs);
  });

  it("keeps the last settled actions, and all that wait", () => {
    const live = after();
    const report = (id: string, status: string) => live.apply({ type: "pending.opened", spaceId: null, runId: null, at, pendingAction: { id, status, messageId: null } } as unknown as LiveEvent);
    report("waits", "open");
    for (let n = 0; n < 2000; n++) report(`p${n}`, "answered");
    expect(live.pending.size).toBeLessThanOrEqual(limits.pending);
    expect([live.pending.has("waits"), live.pending.has("p1999")]).toEqual([true, true]);
  });
});

it.each(["", "abc", "ä", "€uro", "🐟🐠", "a\u0301", "x🐟"])("bytes of %j are those of UTF-8", (s) => {
  expect(byteLength(s)).toBe(new TextEncoder().encode(s).length);
  expect(byteSlice(s, 0)).toBe(s);
});

describe("a space with many members", () => {
  const who = (entityId: string, name = entityId) => ({ entityId, kind: "human" as const, name, joinedAt: at, addedBy: null });
  const large = space("shop", { members: [who("ann"), who("bob")], memberCount: 500 });
  const change = (type: "member.joined" | "member.left", entityId: string, memberCount: number): ServerEvent => ({ type, spaceId: "shop", runId: null, at, member: who(entityId), memberCount });
  const members = (live: SessionState) => live.spaces.get("shop")?.space.members.map((m) => m.name);
  const count = (live: SessionState) => live.spaces.get("shop")?.space.memberCount;

  it("is counted by the server, and keeps the list that this reader was given", () => {
    const live = after(snapshot(large, []), end, change("member.joined", "cid", 501));
    expect([members(live), count(live)]).toEqual([["ann", "bob"], 501]);
    live.apply(change("member.left", "bob", 500));
    expect([members(live), count(live)]).toEqual([["ann"], 500]);
  });

  it("keeps it when an event lists others, with their new names", () => {
    const live = after(snapshot(large, []), end, { type: "space.updated", spaceId: "shop", runId: null, at, space: space("shop", { name: "Market", members: [who("zoe"), who("bob", "Bobby")], memberCount: 500 }) });
    expect([live.spaces.get("shop")?.space.name, members(live)]).toEqual(["Market", ["ann", "Bobby"]]);
  });

  it("counts as unread what others write, since the reader is listed", () => {
    const live = after(snapshot(large, []), end, change("member.left", "bob", 499), created(message("m1", 1, [], { entityId: "zoe", status: "completed", runId: null })));
    expect(live.spaces.get("shop")?.space.unreadCount).toBe(1);
  });

  it("asks for a fresh start if it is new and its event may leave the reader out", () => {
    const live = after(end, { type: "space.updated", spaceId: "shop", runId: null, at, space: space("shop", { members: [who("zoe")], memberCount: 500 }) });
    expect([live.spaces.size, live.gap]).toEqual([0, true]);
  });
});

describe("a space that comes later", () => {
  const updated = (s: Space): ServerEvent => ({ type: "space.updated", spaceId: s.id, runId: null, at, space: s });
  const joined = (id: string, entityId: string): ServerEvent => ({ type: "member.joined", spaceId: id, runId: null, at, member: { entityId, kind: "human", name: entityId, joinedAt: at, addedBy: null }, memberCount: 1 });

  it("and is new appears at once, with its messages", () => {
    const live = after(end, updated(space("shop", { members: [] })), joined("shop", "ann"), joined("shop", "bob"), created(message("m1", 1, [])));
    expect(live.spaces.get("shop")?.order).toEqual(["m1"]);
    expect(live.spaces.get("shop")?.space.members.map((m) => m.entityId)).toEqual(["ann", "bob"]);
    expect(live.gap).toBe(false);
  });

  it("with a past asks for a fresh start", () => {
    expect(after(end, joined("shop", "ann")).gap).toBe(true);
    expect(after(end, updated(space("shop", { lastSeq: 3 }))).gap).toBe(true);
  });

  it("does not belong to a participant who is not a member", () => {
    const live = after(end, updated(space("shop", { members: [{ entityId: "bob", kind: "human", name: "Bob", joinedAt: at, addedBy: null }] })), joined("shop", "bob"));
    expect([live.spaces.size, live.gap]).toEqual([0, false]);
  });
});

describe("what a run thinks", () => {
  const thinks = (type: "reasoning-start" | "reasoning-delta", some: object = {}) => ({ type, spaceId: "shop", runId: "run_1", at, messageId: "", partId: "prt_r", ...some }) as ServerEvent;

  it("is kept by run and space, each piece once, also before there is a message", () => {
    const first = thinks("reasoning-delta", { offset: 0, delta: "Let me " });
    const live = after(end, thinks("reasoning-start"), first, first, thinks("reasoning-delta", { offset: 7, delta: "think." }), thinks("reasoning-start"), thinks("reasoning-delta", { offset: 0, delta: "Yes." }));
    expect(live.streaming.get(reasoningKey("run_1", "shop"))?.input).toBe("Let me think.\n\nYes.");
    expect(live.streaming.get(reasoningKey("run_1", "other"))).toBeUndefined();
  });
});
