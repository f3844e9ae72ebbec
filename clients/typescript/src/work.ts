// A run that a program executes: what a handler reports, and the answers that it waits for.
import { onAbort } from "./backoff.js";
import { ExpiredError } from "./errors.js";
import { Lines } from "./lines.js";
import { DeniedError, failedLine, messageOf, pieceEnd, shortened, type Steer, type Tokens, type WorkLine, type WorkOptions } from "./report.js";
import type { Shoal } from "./shoal.js";
import type { Order, RemoteRun } from "./types.js";

/** Where a text goes: by default into the space of the trigger, without a mention. */
export interface Target {
  readonly space?: string;
  readonly mention?: string;
}

/** The decision about a permission. */
export interface Verdict<A> {
  readonly approved: boolean;
  /** What a person wrote, or why nobody decided. */
  readonly reason: string;
  /** The arguments that may be executed. A person may have changed them. */
  readonly args: A;
  /** Identifies the tool and the arguments that were approved or denied. */
  readonly argsHash: string;
  /** Who decided. */
  readonly by: string | undefined;
}

/** How a tool is called. */
export interface CallOptions {
  /** Identifies the call in the run: called again after a crash, it is executed once, and a decision about it holds. */
  readonly id?: string;
  /** Whether a person has to approve the call. */
  readonly permission?: boolean;
  /** What people read about the call. */
  readonly title?: string;
}

const maxOutput = 4096;
// Code units of a text in one line: it may have 64 KiB.
const maxPiece = 16_384;

/**
 * A run that a handler executes. What its methods report is shown in the order of the calls.
 * Await them: they wait while too much is not stored yet, and reject once the run has ended.
 */
export class Work {
  /** Is aborted when the run is canceled, when the lease is lost, and when serving ends. */
  readonly signal: AbortSignal;
  private readonly lines: Lines;
  private readonly answers = new Map<string, Order>();
  private readonly waiting = new Map<string, (order: Order) => void>();
  private readonly offers = new Map<string, Steer>();
  private steer: ((message: Steer) => void) | undefined;
  private calls = 0;

  constructor(
    shoal: Shoal,
    /** The run, with what it begins with and what another program has done in it before. */
    readonly claimed: RemoteRun,
    options: WorkOptions,
  ) {
    for (const call of claimed.calls) if (call.answer != null) this.answers.set(call.callId, call.answer);
    this.lines = new Lines(shoal, claimed, options, (order) => (order.type === "steer" ? this.offered(order) : this.answered(order)));
    this.signal = this.lines.ended.signal;
    void this.report({ type: "turn.started" });
  }

  /** Appends to the text in the space of the trigger, or in another one. */
  text(delta: string, { space, mention }: Target = {}): Promise<void> {
    return this.pieces(delta, (piece) => ({ type: "text", delta: piece, spaceId: space, mention }));
  }

  /** Ends the text that was written last, so that a mention in it has its effect. */
  endText({ space, mention }: Target = {}): Promise<void> {
    return this.report({ type: "text", spaceId: space, mention, end: true });
  }

  /** Appends to the reasoning, which is shown where the space shows it. */
  thought(delta: string): Promise<void> {
    return this.pieces(delta, (piece) => ({ type: "thought", delta: piece }));
  }

  /** Adds tokens, and a cost in US dollars, to those of the run. */
  usage(model: string, tokens: Tokens, cost?: number): Promise<void> {
    return this.report({ type: "usage", model, tokens: { cachedInput: 0, reasoning: 0, ...tokens } as Tokens, cost });
  }

  /** Shows a card: a call of a display tool in the space of the trigger. */
  card(tool: string, args: unknown): Promise<void> {
    return this.report({ type: "card", callId: this.newId("card"), tool, args });
  }

  /** Shows a card that members answer, and returns the answer. Throws if nobody answers in time. */
  async askCard(tool: string, args: unknown): Promise<unknown> {
    const order = await this.order({ type: "card", callId: this.newId("card"), tool, args, wait: true });
    if (order.error) throw new ExpiredError(0, "expired", order.error);
    return order.result;
  }

  /** Asks the members of the space. Returns undefined if nobody answers in time. */
  async ask(question: string, options?: readonly string[]): Promise<string | undefined> {
    const order = await this.order({ type: "question", callId: this.newId("question"), text: question, options });
    return order.error ? undefined : (order.text ?? "");
  }

  /** Asks whether a tool call may be executed. Asked again with the same id, also after a crash, it returns the verdict that was given. */
  async permission<A>(id: string, tool: string, args: A, title?: string): Promise<Verdict<A>> {
    const order = await this.order({ type: "permission", callId: id, tool, title, args });
    return { approved: order.approved === true, reason: order.reason ?? "", args: order.editedArgs === undefined || order.editedArgs === null ? args : (order.editedArgs as A), argsHash: order.argsHash ?? "", by: order.by };
  }

  /**
   * Calls a tool and shows the call with its output, at most 4 KiB of it. With `permission` it
   * runs after a person has approved it, with the arguments that were approved, else DeniedError.
   */
  async call<A>(tool: string, args: A, run: (args: A) => Promise<string> | string, { id = this.newId(tool), permission = false, title }: CallOptions = {}): Promise<string> {
    const before = this.claimed.calls.find((c) => c.callId === id);
    if (before?.state === "done") return before.output;
    if (before === undefined) await this.report({ type: "tool", callId: id, tool, title, args, state: "pending" });
    let allowed = args;
    if (permission) {
      const verdict = await this.permission(id, tool, args, title);
      if (!verdict.approved) throw new DeniedError(verdict.reason === "" ? `The call of ${tool} was not approved.` : verdict.reason);
      allowed = verdict.args;
    }
    await this.report({ type: "tool", callId: id, state: "running" });
    try {
      const output = await run(allowed);
      await this.report({ type: "tool", callId: id, state: "done", output: shortened(output, maxOutput) });
      return output;
    } catch (error) {
      if (!this.signal.aborted) await this.report({ type: "tool", callId: id, state: "failed", output: shortened(messageOf(error), maxOutput) });
      throw error;
    }
  }

  /**
   * Calls `fn` with each message that arrives during the run. One that is not taken in with
   * `steered` starts the next run.
   */
  onMessage(fn: (message: Steer) => void): void {
    this.steer = fn;
    for (const message of this.offers.values()) fn(message);
  }

  /** Says that the model has a message: it is a part of this run from now on. Until then it is safe in the queue. */
  steered(runId: string): Promise<void> {
    return this.report({ type: "steered", runId });
  }

  /** Reports a line of any type. The lines that end the run are those of serveAgent. */
  report(line: WorkLine): Promise<void> {
    const done = this.lines.add(line);
    done.catch(() => undefined); // a handler that does not await learns it from the next call
    return done;
  }

  /** Ends the run, as failed with an error, and waits until that is stored. serveAgent calls it. */
  finish(...error: [unknown?]): Promise<void> {
    return this.lines.finish(error.length === 0 ? { type: "turn.ended", stop: "end_turn" } : failedLine(error[0]));
  }

  private async pieces(text: string, line: (piece: string) => WorkLine): Promise<void> {
    for (let at = 0; at < text.length; ) {
      const end = pieceEnd(text, at, maxPiece);
      await this.report(line(text.slice(at, end)));
      at = end;
    }
  }

  // Reports a request, and waits for its answer.
  private async order(line: WorkLine & { readonly callId: string }): Promise<Order> {
    const known = this.answers.get(line.callId);
    if (known !== undefined) return known;
    const answer = new Promise<Order>((resolve) => {
      const others = this.waiting.get(line.callId);
      this.waiting.set(line.callId, (order) => (others?.(order), resolve(order)));
    });
    await this.report(line);
    let forget = (): void => undefined;
    const ended = new Promise<never>((_, reject) => (forget = onAbort(this.signal, () => reject(this.signal.reason))));
    return Promise.race([answer, ended]).finally(forget);
  }

  private answered(order: Order): void {
    const id = order.callId ?? "";
    if (this.answers.has(id)) return; // a new connection gets all answers again
    this.answers.set(id, order);
    this.waiting.get(id)?.(order);
    this.waiting.delete(id);
  }

  // More than 32 messages are not offered at once; a new connection offers them again.
  private offered({ runId = "", messageId = "", by = "", text = "" }: Order): void {
    if (this.offers.has(runId) || (this.steer === undefined && this.offers.size >= 32)) return;
    const message = { runId, messageId, by, text };
    this.offers.set(runId, message);
    this.steer?.(message);
  }

  // Calls of an earlier claim have other ids.
  private newId(what: string): string {
    return `${what}-${this.claimed.generation}-${++this.calls}`;
  }
}
