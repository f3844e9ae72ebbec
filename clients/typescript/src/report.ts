// What a program reports about a run, and how a run ends for it.
import { ExpiredError } from "./errors.js";

/** What a line may say; its number is set. docs/remote-agents.md describes the fields. */
export interface WorkLine {
  readonly type: "turn.started" | "text" | "thought" | "tool" | "card" | "permission" | "question" | "usage" | "steered" | "turn.ended" | "released" | "failed";
  readonly delta?: string;
  readonly spaceId?: string;
  readonly mention?: string;
  readonly end?: boolean;
  readonly callId?: string;
  readonly tool?: string;
  readonly kind?: string;
  readonly title?: string;
  readonly args?: unknown;
  readonly state?: "pending" | "running" | "done" | "failed" | "canceled";
  readonly output?: string;
  readonly wait?: boolean;
  readonly options?: readonly string[];
  readonly model?: string;
  readonly tokens?: Tokens;
  readonly cost?: number;
  readonly stop?: string;
  readonly code?: string;
  readonly text?: string;
  readonly runId?: string;
  readonly fixedArgs?: boolean;
}

/** A message that has arrived while the run is in progress, of an agent with loop.onNewMessage: steer. */
export interface Steer {
  /** The queued run that the message starts if this one does not take it in. */
  readonly runId: string;
  readonly messageId: string;
  /** The sender. */
  readonly by: string;
  /** What the model reads. What others wrote in it is between tags. */
  readonly text: string;
}

/** The tokens that model calls used. `cachedInput` is a part of `input`, and `reasoning` one of `output`. */
export interface Tokens {
  readonly input: number;
  readonly cachedInput?: number;
  readonly output: number;
  readonly reasoning?: number;
}

/** The run was canceled, or has ended in another way: stop. */
export class RunEndedError extends ExpiredError {
  constructor() {
    super(0, "run_ended", "The run has ended.");
  }
}

/** Another program executes the run now: stop. What was not confirmed is not stored. */
export class LeaseLostError extends ExpiredError {
  constructor() {
    super(0, "lease_lost", "The run is executed by another program now.");
  }
}

/** A person did not approve the call, or nobody did in time. */
export class DeniedError extends Error {
  override readonly name = "DeniedError";
}

/** Fails a run with a code, such as provider_unavailable. Members read the message. */
export class AgentError extends Error {
  override readonly name = "AgentError";
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** How a run is reported. */
export interface WorkOptions {
  readonly signal?: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** The end of a piece of a text with at most `most` code units, not between the halves of a character. */
export function pieceEnd(text: string, from: number, most: number): number {
  const end = from + most;
  if (end >= text.length) return text.length;
  const c = text.charCodeAt(end - 1);
  return c >= 0xd800 && c < 0xdc00 ? end - 1 : end;
}

/** The text, cut at the end of a character if it has more bytes than `most`. */
export function shortened(text: string, most: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= most) return text;
  return `${new TextDecoder().decode(bytes.subarray(0, most - 3), { stream: true })}…`;
}

/** What people read about a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The line that fails a run. A fault of the program is its author's business: members do not read its words. */
export function failedLine(error: unknown): WorkLine {
  const fault = error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError || error instanceof SyntaxError;
  const text = shortened(fault ? "The program has a fault." : messageOf(error), 1000);
  return { type: "failed", code: error instanceof AgentError ? error.code : "program_failed", text: text === "" ? "The program failed." : text };
}
