// Runs and what belongs to them, for tests: whole shapes, of which a test names what
// it is about.
import type { Message, PendingAction, Run, Step, StepCall, Usage } from "@shoal-dev/client";

/** A time, in ms after the tests' beginning of time. */
export const at = (ms: number): string => new Date(Date.UTC(2026, 10, 22, 8) + ms).toISOString();

const usage: Usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0, cost: 0, currency: "USD" };

export function aRun(some: Partial<Run>): Run {
  return {
    id: "run_1", sessionId: "default", agentId: "shop", status: "running", causeRoot: "msg_1", depth: 0, actingFor: ["ann"], steps: 0, maxSteps: 5, usage, pendingToolCalls: [], error: null, activity: null, stalledSince: null, queuedBehind: null, waitingFor: null, waitingForProgram: false,
    trigger: { type: "space_message", spaceId: "harbour", spaceName: "Harbour", messageId: "msg_1", messageContent: "Hello", senderEntityId: "ann", senderName: "Ann", senderType: "human" },
    createdAt: at(0), startedAt: at(0), endedAt: null, ...some,
  };
}

export function aStep(some: Partial<Step>): Step {
  return { index: 0, model: "gpt", finishReason: "tool_calls", usage, text: "", reasoning: "", toolCalls: [], startedAt: at(0), firstTokenMs: null, endedAt: null, missingTools: [], ...some };
}

export function aCall(some: Partial<StepCall>): StepCall {
  return { toolCallId: "call", toolName: "look", args: {}, result: null, status: "ok", startedAt: null, endedAt: null, ...some };
}

export function aPending(some: Partial<PendingAction>): PendingAction {
  return {
    id: "pnd_1", kind: "client_tool", runId: "run_1", agentId: "shop", spaceId: "harbour", messageId: "msg_2", partId: "prt_1", toolCallId: "call", toolName: "look", args: {}, question: null,
    options: null, resultSchema: null, status: "open", expiresAt: null, createdAt: at(0), answeredBy: null, answeredAt: null, by: null, quorum: 1, notRequester: false, choose: null, votes: [], eligible: 1, requesters: [], argsHash: "", argsSchema: null, editedArgs: null, decision: null, triggerText: null, triggerEditedAt: null, ...some,
  };
}

export function aMessage(some: Partial<Message>): Message {
  return { id: "msg_2", sessionId: "default", spaceId: "harbour", seq: 1, entityId: "shop", runId: "run_1", status: "completed", mentions: [], droppedMentions: [], onBehalfOf: [], replyTo: null, reactions: [], deletedAt: null, editedAt: null, createdAt: at(0), updatedAt: at(0), parts: [], ...some };
}
