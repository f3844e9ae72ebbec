// Finding commands by a few letters, and which events cause a notification.
import { describe, expect, it } from "vitest";
import { type Entity, type Message, type PendingAction, SessionState, type Space } from "@shoal-dev/client";
import { fit, fitting } from "./fuzzy";
import { newsOf } from "./news";

describe("fuzzy matching", () => {
  const best = (all: string[], typed: string) => fitting(all, (t) => t, typed, 10).map((f) => f.item);
  it("prefers a prefix to the start of a word, and that to the middle", () => {
    expect(best(["Relaunch", "Go to launch", "Launch plan"], "launch")).toEqual(["Launch plan", "Go to launch", "Relaunch"]);
  });
  it("accepts letters in order", () => {
    expect(fit("Launch plan", "lpn")).toBeGreaterThan(0);
    expect(fit("Launch plan", "nlp")).toBe(0);
  });
  it("needs all words, in any order", () => {
    expect(fit("Toggle the theme", "theme toggle")).toBeGreaterThan(0);
    expect(fit("Toggle the theme", "theme xyz")).toBe(0);
  });
  it("keeps everything in order for an empty query", () => expect(best(["b", "a"], " ")).toEqual(["b", "a"]));
  it("is bounded", () => expect(fitting(["a", "aa", "aaa"], (t) => t, "a", 2)).toHaveLength(2));
});

const at = "2026-11-22T08:00:00.000Z";

function world(): SessionState {
  const live = new SessionState("ann");
  const space: Space = {
    id: "shop", sessionId: "s", name: "Shopping", status: "open", summary: null, ownerId: null, adminAgentId: null, showAgentReasoning: false, metadata: {},
    members: [{ entityId: "ann", kind: "human", name: "Ann", joinedAt: at, addedBy: null }], memberCount: 1, lastSeq: 0, unreadCount: 0, mentionCount: 0, firstUnreadSeq: 0, muted: false, createdAt: at, closedAt: null,
  };
  const bot: Entity = { id: "bot", sessionId: "s", kind: "agent", sessionRole: "member", ownerId: null, hosted: true, name: "Shop Agent", description: "", externalId: null, state: "connected", waitEndsAt: null, lastSeenAt: null, lastFailure: null, stalledSince: null, wake: null, metadata: {}, createdAt: at };
  const event = { at, cursor: "c", runId: null, members: space.members, messages: [], type: "snapshot" as const };
  live.apply({ ...event, spaceId: "shop", space });
  live.apply({ ...event, spaceId: "other", space: { ...space, id: "other", name: "Other", members: [] } });
  live.apply({ type: "entity.updated", at, runId: null, spaceId: null, entity: bot });
  return live;
}

const message = (some: Partial<Message>): Message => ({
  id: "m", sessionId: "s", spaceId: "shop", seq: 7, entityId: "bot", runId: null, status: "completed", mentions: ["ann"], droppedMentions: [], onBehalfOf: [], replyTo: null, reactions: [], deletedAt: null, editedAt: null, createdAt: at, updatedAt: at,
  parts: [{ id: "p", type: "text", text: "a secret", status: "done" }], ...some,
});
const posted = (some: Partial<Message> = {}) => ({ type: "message.created" as const, at, runId: null, spaceId: "shop", message: message(some) });
const pending: PendingAction = {
  id: "pnd_1", kind: "permission", runId: "r", agentId: "bot", spaceId: "shop", messageId: null, partId: null, toolCallId: "c", toolName: "pay", args: { secret: "a secret" }, question: null, options: null,
  resultSchema: null, status: "open", expiresAt: null, createdAt: at, answeredBy: null, answeredAt: null, by: null, quorum: 1, notRequester: false, choose: null, votes: [], eligible: 1, requesters: [], argsHash: "", argsSchema: null, editedArgs: null, decision: null, triggerText: null, triggerEditedAt: null, 
};
const opened = (some: Partial<PendingAction> = {}) => ({ type: "pending.opened" as const, at, runId: "r", spaceId: "shop", pendingAction: { ...pending, ...some } });

describe("notifications", () => {
  it("a mention, with sender and space", () => {
    expect(newsOf(posted(), world())).toEqual({ title: "Shop Agent mentioned you", body: "Shopping", tag: "message:m", space: "shop", seq: 7 });
  });
  it("a pending action", () => {
    expect(newsOf(opened(), world())).toEqual({ title: "Shop Agent needs an answer", body: "Shopping", tag: "pending:pnd_1", space: "shop", seq: undefined });
    expect(newsOf(opened({ spaceId: null }), world())).toMatchObject({ body: "Approvals", space: undefined });
  });
  it("never the text", () => {
    expect(JSON.stringify([newsOf(posted(), world()), newsOf(opened(), world())])).not.toContain("secret");
  });
  it("not own messages, mentions of others, or incomplete messages", () => {
    expect(newsOf(posted({ entityId: "ann" }), world())).toBeUndefined();
    expect(newsOf(posted({ mentions: ["ben"] }), world())).toBeUndefined();
    expect(newsOf(posted({ status: "streaming" }), world())).toBeUndefined();
  });
  it("not in spaces of others", () => {
    expect(newsOf(posted({ spaceId: "other" }), world())).toBeUndefined();
    expect(newsOf(opened({ spaceId: "other" }), world())).toBeUndefined();
  });
  it("nothing without an acting entity", () => expect(newsOf(posted(), new SessionState(null))).toBeUndefined());
});
