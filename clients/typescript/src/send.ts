// Posts a message, and waits for its answer.
import { onAbort } from "./backoff.js";
import { ConflictError, NotFoundError, RunFailedError, TimedOutError } from "./errors.js";
import { randomKey } from "./retry.js";
import type { components } from "./schema.js";
import type { Shoal } from "./shoal.js";
import type { Message, ServerEvent } from "./types.js";

/** A message to post: a `text` or `parts`, with `mentions`. */
export type Draft = components["schemas"]["MessageInput"];

/** How to post. */
export interface SendOptions {
  /** Wakes these members; added to those of the draft. */
  readonly mentions?: readonly string[];
  /** Calls with the same key post once. */
  readonly idempotencyKey?: string;
  /** How long to wait for the answer, in milliseconds. */
  readonly wait?: number;
  readonly signal?: AbortSignal;
}

/** Posts and waits. */
export interface WaitForAnswer extends SendOptions {
  readonly wait: number;
}

/** A message and the answer to it. */
export interface Answered {
  readonly message: Message;
  readonly answer: Message;
}

/** See Shoal.send. */
export async function send(shoal: Shoal, space: string, message: string | Draft, options: SendOptions): Promise<Message | Answered> {
  const draft: Draft = typeof message === "string" ? { text: message } : message;
  const body: Draft = options.mentions === undefined ? draft : { ...draft, mentions: [...(draft.mentions ?? []), ...options.mentions] };
  const headers = { "Idempotency-Key": options.idempotencyKey ?? randomKey() };
  const post = (): Promise<Message> =>
    shoal.api.POST("/v1/sessions/{session}/spaces/{space}/messages", { params: { path: { session: shoal.session, space } }, body, headers, signal: options.signal });
  return options.wait === undefined ? post() : answered(shoal, space, post, options.wait, options.signal);
}

// Follows the space before it posts, so that it misses nothing.
async function answered(shoal: Shoal, space: string, post: () => Promise<Message>, withinMs: number, signal: AbortSignal | undefined): Promise<Answered> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), withinMs);
  const forget = onAbort(signal, () => limit.abort());
  let message: Message | undefined;
  try {
    for await (const event of shoal.follow({ space, signal: limit.signal })) {
      if (message === undefined) {
        message = await post();
        if (answerersOf(message).length === 0) throw new NotFoundError(0, "not_found", `The message was posted as ${message.id}, but nobody acts on it: mention a member of the space.`);
        continue;
      }
      const answer = answerIn(event, message);
      if (answer !== undefined) return { message, answer };
    }
  } finally {
    clearTimeout(timer);
    forget();
  }
  if (signal?.aborted === true) throw signal.reason;
  throw new TimedOutError(0, "timed_out", message === undefined ? "The space could not be followed in time; nothing was posted." : `The message was posted as ${message.id}, but nobody has answered in time.`);
}

function answerersOf(message: Message): readonly string[] {
  return message.mentions.length > 0 ? message.mentions : (message.runs ?? []).map((r) => r.agentId);
}

// The answer in an event. Throws if there will be none.
function answerIn(event: ServerEvent, message: Message): Message | undefined {
  const from = answerersOf(message);
  const messages = event.type === "snapshot" ? event.messages : "message" in event ? [event.message] : [];
  const answer = messages.find((m) => m.seq > message.seq && m.status !== "streaming" && from.includes(m.entityId));
  if (answer !== undefined) return answer;
  if (event.type === "space.closed" || event.type === "space.deleted") throw new ConflictError(409, "space_closed", "The space was closed before an answer arrived.");
  const over = event.type === "run.failed" || event.type === "run.canceled" || (event.type === "run.completed" && from.length === 1);
  if (over && message.runs?.some((r) => r.runId === event.run.id) === true) {
    throw new RunFailedError(0, "run_failed", `The run of ${event.run.agentId} ended without an answer: ${event.run.error?.message ?? event.run.status}.`);
  }
  return undefined;
}
