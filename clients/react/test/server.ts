// What the hooks see of a server, over fetch: who they are, one stream that the test writes to,
// empty lists, and calls that the test answers. test/react has the real server.
import { Shoal, type Entity, type Message, type PendingAction, type Run, type ServerEvent, type Space, type TextPart, type ToolPart } from "@shoal-dev/client";

export const at = "2026-11-20T10:00:00.000Z";

export const text = (words: string, some: Partial<TextPart> = {}): TextPart => ({ id: "prt_1", type: "text", text: words, status: "done", ...some });

export const tool = (some: Partial<ToolPart> = {}): ToolPart => ({
  id: "prt_2", type: "tool_call", toolCallId: "call-1", toolName: "showProductCard", args: {}, result: null, error: null, status: "running",
  display: null, answeredBy: null, editedArgs: null, decision: null, targetEntityId: null, ...some,
});

export const message = (seq: number, some: Partial<Message> = {}): Message => ({
  id: `msg_${seq}`, sessionId: "default", spaceId: "shop", seq, entityId: "ann", runId: null, status: "completed", mentions: [],
  droppedMentions: [], onBehalfOf: [], replyTo: null, reactions: [], deletedAt: null, editedAt: null, createdAt: at, updatedAt: at, parts: [text(`message ${seq}`)], ...some,
});

export const space = (some: Partial<Space> = {}): Space => ({
  id: "shop", sessionId: "default", name: "Shopping", status: "open", summary: null, ownerId: null, adminAgentId: null, showAgentReasoning: false, metadata: {},
  members: ["ann", "bot"].map((entityId) => ({ entityId, kind: "human" as const, name: entityId, joinedAt: at, addedBy: null })),
  memberCount: 2, lastSeq: 0, unreadCount: 0, mentionCount: 0, firstUnreadSeq: 0, muted: false, createdAt: at, closedAt: null, ...some,
});

export const entity = (id: string, state: Entity["state"]): Entity => ({
  id, sessionId: "default", kind: "human", sessionRole: "member", ownerId: null, hosted: false, name: id, description: "", externalId: null, state,
  waitEndsAt: null, lastSeenAt: at, lastFailure: null, stalledSince: null, wake: null, metadata: {}, createdAt: at,
});

export const pendingAction = (some: Partial<PendingAction> = {}): PendingAction => ({
  id: "pnd_1", kind: "client_tool", runId: "run_1", agentId: "bot", spaceId: "shop", messageId: "msg_2", partId: "prt_2", toolCallId: "call-1", toolName: "showProductCard", args: {},
  question: null, options: null, resultSchema: null, status: "open", expiresAt: null, createdAt: at, answeredBy: null, answeredAt: null, by: null, quorum: 1, notRequester: false,
  choose: null, votes: [], eligible: 1, requesters: ["ann"], argsHash: "", argsSchema: null, editedArgs: null, decision: null, triggerText: null, triggerEditedAt: null, ...some,
});

export const run = (status: Run["status"], some: Partial<Run> = {}): Run => ({
  id: "run_1", sessionId: "default", agentId: "bot", status,
  trigger: { type: "space_message", spaceId: "shop", spaceName: "Shopping", messageId: "msg_1", messageContent: "Hello", senderEntityId: "ann", senderName: "ann", senderType: "human" },
  causeRoot: "msg_1", depth: 0, actingFor: ["ann"], steps: 1, maxSteps: 5, usage: { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0, cost: 0, currency: "USD" },
  pendingToolCalls: [], error: null, activity: null, stalledSince: null, queuedBehind: null, waitingFor: null, waitingForProgram: false, createdAt: at, startedAt: at, endedAt: null, ...some,
});

/** A call of the client. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

/** See the top of this file. */
export class Server {
  readonly calls: Call[] = [];
  /** The streams that are open now. */
  open = 0;
  /** How often a stream was opened. */
  opened = 0;
  /** The lists that the client loads. */
  lists: Record<string, readonly unknown[]> = {};
  /** Answers calls that change something, and /v1/me if it is set. */
  answer: (call: Call) => Response | Promise<Response> | undefined = () => undefined;
  private stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  private cursor = 0;

  readonly shoal = new Shoal({ url: "http://shoal.test", key: "key", fetch: (url, request) => this.fetch(String(url), request ?? {}) });

  /** Sends events to the open stream. */
  emit(...events: object[]): void {
    for (const event of events) {
      const { type } = event as { type: string };
      this.stream?.enqueue(new TextEncoder().encode(`id: ${++this.cursor}\nevent: ${type}\ndata: ${JSON.stringify({ at, spaceId: "shop", runId: null, ...event })}\n\n`));
    }
  }

  /** What a stream begins with: one space and its messages. */
  begin(messages: readonly Message[], of: Partial<Space> = {}): void {
    const known = space({ lastSeq: messages[messages.length - 1]?.seq ?? 0, ...of });
    this.emit({ type: "snapshot", cursor: "1", space: known, members: known.members, messages }, { type: "snapshot.end", cursor: "1", spaceId: null } satisfies Partial<ServerEvent>);
  }

  /** Breaks the stream. */
  cut(): void {
    this.stream?.error(new TypeError("cut"));
    this.open = 0;
  }

  private async fetch(url: string, { method = "GET", headers = {}, body, signal }: RequestInit): Promise<Response> {
    const path = url.replace("http://shoal.test", "");
    const call: Call = { method, path, headers: headers as Record<string, string>, body: typeof body === "string" ? JSON.parse(body) : undefined };
    this.calls.push(call);
    const answered = await this.answer(call);
    if (answered !== undefined) return answered;
    if (path === "/v1/me") return Response.json({ role: "entity", entityId: "ann", keyId: "key_1", sessionId: "default" });
    if (!path.includes("/events")) return Response.json({ items: this.lists[/\/([a-z-]+)(\?|$)/.exec(path)?.[1] ?? ""] ?? [], nextCursor: null });
    this.open++;
    this.opened++;
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.stream = controller;
        signal?.addEventListener("abort", () => {
          this.open--;
          controller.error(new DOMException("aborted", "AbortError"));
        });
      },
    });
    return new Response(stream, { headers: { "Content-Type": "text/event-stream" } });
  }
}
