// Whole things of the contract for tests; each takes what matters to the test.
import type { Entity, Member, Message, PendingAction, Run, Space, TextPart, ToolPart } from "@shoal-dev/client";

const at = "2026-11-20T10:00:00.000Z";

export const space = (some: Partial<Space> = {}): Space => ({
  id: "shop", sessionId: "default", name: "Shopping", status: "open", summary: null, ownerId: null, adminAgentId: null, showAgentReasoning: false,
  metadata: {}, members: [], memberCount: some.members?.length ?? 0, lastSeq: 0, unreadCount: 0, mentionCount: 0, firstUnreadSeq: 0, muted: false, createdAt: at, closedAt: null, ...some,
});

export const member = (entityId: string, kind: Member["kind"] = "human", name = entityId): Member => ({ entityId, kind, name, joinedAt: at, addedBy: null });

export const entity = (some: Partial<Entity> = {}): Entity => ({
  id: "ann", sessionId: "default", kind: "human", sessionRole: "member", ownerId: null, hosted: false, name: "Ann", description: "", externalId: null, state: "connected",
  waitEndsAt: null, lastSeenAt: at, lastFailure: null, stalledSince: null, wake: null, metadata: {}, createdAt: at, ...some,
});

export const text = (some: Partial<TextPart> = {}): TextPart => ({ id: "prt_1", type: "text", text: "Hello", status: "done", ...some });

export const tool = (some: Partial<ToolPart> = {}): ToolPart => ({
  id: "prt_2", type: "tool_call", toolCallId: "call-1", toolName: "search", args: {}, result: null, error: null, status: "running",
  display: null, answeredBy: null, editedArgs: null, decision: null, targetEntityId: null, ...some,
});

export const message = (some: Partial<Message> = {}): Message => ({
  id: `msg_${some.seq ?? 1}`, sessionId: "default", spaceId: "shop", seq: 1, entityId: "ann", runId: null, status: "completed", mentions: [],
  droppedMentions: [], onBehalfOf: [], replyTo: null, reactions: [], deletedAt: null, editedAt: null, createdAt: at, updatedAt: at, parts: [text()], ...some,
});

export const pendingAction = (some: Partial<PendingAction> = {}): PendingAction => ({
  id: "pnd_1", kind: "client_tool", runId: "run_1", agentId: "bot", spaceId: "shop", messageId: "msg_1", partId: "prt_2", toolCallId: "call-1",
  toolName: "search", args: {}, question: null, options: null, resultSchema: null, status: "open", expiresAt: null, createdAt: at,
  answeredBy: null, answeredAt: null, by: null, quorum: 1, notRequester: false, choose: null, votes: [], eligible: 1, requesters: [], argsHash: "", argsSchema: null, editedArgs: null, decision: null, triggerText: null, triggerEditedAt: null, ...some,
});

export const run = (some: Partial<Run> = {}): Run => ({
  id: "run_1", sessionId: "default", agentId: "bot", status: "running",
  trigger: { type: "space_message", spaceId: "shop", spaceName: "Shopping", messageId: "msg_1", messageContent: "Hello", senderEntityId: "ann", senderName: "Ann", senderType: "human" },
  causeRoot: "msg_1", depth: 0, actingFor: ["ann"], steps: 1, maxSteps: 5,
  usage: { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0, cost: 0, currency: "USD" },
  pendingToolCalls: [], error: null, activity: null, stalledSince: null, queuedBehind: null, waitingFor: null, waitingForProgram: false, createdAt: at, startedAt: at, endedAt: null, ...some,
});
