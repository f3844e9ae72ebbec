// The lines of a run: they are numbered, sent in order, and sent again until they are stored.
// The orders of the server come back on a stream.
import { Backoff, onAbort, pause } from "./backoff.js";
import { ConflictError, ExpiredError, ShoalError } from "./errors.js";
import { failedLine, LeaseLostError, RunEndedError, type WorkLine, type WorkOptions } from "./report.js";
import { request } from "./request.js";
import { attempt } from "./retry.js";
import type { Shoal } from "./shoal.js";
import { Stream } from "./stream.js";
import type { Order, RemoteRun, WorkReceipt } from "./types.js";

// How many code units may wait for a receipt, and how many lines and code units a report has: a body may have 1 MiB.
const maxQueue = 1 << 20;
const maxLines = 1000;
const maxBody = 1 << 18;
// How often the server hears of a run without lines during a lease.
const renewals = 4;
// How long a program that stops may take to give a run back.
const giveBackWithinMs = 5000;

/** A line that waits for its receipt. */
interface Queued {
  readonly n: number;
  readonly json: string;
}

/** A line that waits for room in the queue. */
interface Held {
  readonly line: WorkLine;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** The lines and the orders of one run, from its construction until `finish` has returned. */
export class Lines {
  /** Is aborted when nothing more is accepted about the run; its reason says why. */
  readonly ended = new AbortController();
  private n = 0;
  private queue: Queued[] = [];
  private size = 0;
  private held: Held[] = [];
  private closed = false;
  private wake: () => void = () => undefined;
  private readonly path: string;
  private readonly query: string;
  private readonly tasks: Promise<unknown>;

  constructor(
    private readonly shoal: Shoal,
    private readonly claimed: RemoteRun,
    private readonly options: WorkOptions,
    onOrder: (order: Order) => void,
  ) {
    this.path = `${shoal.path}/runs/${encodeURIComponent(claimed.run.id)}`;
    this.query = `?generation=${claimed.generation}`;
    const forget = onAbort(options.signal, () => this.end(options.signal?.reason));
    const sent = this.send().finally(() => this.end(new RunEndedError())); // the orders end with the lines
    this.tasks = Promise.all([sent, this.follow(onOrder)]).finally(forget);
  }

  /** Queues a line. Waits while too much is not stored yet; rejects once the run has ended. */
  add(line: WorkLine): Promise<void> {
    if (this.ended.signal.aborted) return Promise.reject(this.ended.signal.reason);
    if (this.closed) return Promise.reject(new RunEndedError());
    if (this.held.length > 0 || this.size >= maxQueue) return new Promise((resolve, reject) => void this.held.push({ line, resolve, reject }));
    this.push(line);
    return Promise.resolve();
  }

  /** Sends the last line, and waits until everything is stored or the run has ended. */
  async finish(last: WorkLine): Promise<void> {
    for (const { line, resolve } of this.held.splice(0)) {
      this.push(line);
      resolve();
    }
    this.push(this.ended.signal.aborted ? { type: "released" } : last);
    this.closed = true;
    await this.tasks;
    if (this.options.signal?.aborted === true && this.ended.signal.reason === this.options.signal.reason) await this.giveBack();
  }

  private push(line: WorkLine): void {
    const n = ++this.n;
    const json = JSON.stringify({ n, ...line });
    this.queue.push({ n, json });
    this.size += json.length;
    this.wake();
  }

  private end(reason: unknown): void {
    if (this.ended.signal.aborted) return;
    this.ended.abort(reason);
    for (const { reject } of this.held.splice(0)) reject(reason);
    this.wake();
  }

  // Sends lines until the last one is stored or the run has ended.
  private async send(): Promise<void> {
    const { signal } = this.ended;
    const delays = new Backoff(100, 2000);
    while (!signal.aborted && !(this.closed && this.queue.length === 0)) {
      if (this.queue.length === 0) {
        await this.idle(Math.max(this.claimed.leaseMs / renewals, 1));
        if (signal.aborted || (this.closed && this.queue.length === 0)) return;
      }
      const error = await this.post(this.next());
      if (error === undefined) {
        delays.reset();
        continue;
      }
      if (signal.aborted || !(await this.mayGoOn(error))) return;
      await pause(Math.max(delays.next(), Math.min(error.retryAfterMs, 30_000)), signal);
    }
  }

  // Waits until there is a line, or it is time to renew the lease.
  private async idle(ms: number): Promise<void> {
    const woken = new AbortController();
    this.wake = () => woken.abort();
    await pause(ms, woken.signal);
    this.wake = () => undefined;
  }

  // The lines to send now: as many as a report may have.
  private next(): Queued[] {
    let size = 0;
    let count = 0;
    for (const { json } of this.queue) {
      size += json.length;
      if (count > 0 && (size > maxBody || count === maxLines)) break;
      count++;
    }
    return this.queue.slice(0, count);
  }

  // Sends lines, and drops those that are stored.
  private async post(lines: readonly Queued[], signal = this.ended.signal): Promise<ShoalError | undefined> {
    try {
      const body = lines.map((l) => `${l.json}\n`).join("");
      const receipt = await request<WorkReceipt>((p, r) => attempt(this.shoal.transport, p, { ...r, signal }), "POST", `${this.path}/work${this.query}`, { body, headers: { "Content-Type": "application/x-ndjson" } });
      this.stored(receipt.n);
      return undefined;
    } catch (error) {
      return ShoalError.from(error);
    }
  }

  private stored(n: number): void {
    while (this.queue[0] !== undefined && this.queue[0].n <= n) this.size -= this.queue.shift()?.json.length ?? 0;
    while (this.held[0] !== undefined && this.size < maxQueue) {
      const { line, resolve } = this.held.shift() as Held;
      this.push(line);
      resolve();
    }
  }

  // Reports whether sending may go on after an error, and ends the run otherwise.
  private async mayGoOn(error: ShoalError): Promise<boolean> {
    if (isPassing(error)) {
      this.options.onError(error);
      return true;
    }
    if (error instanceof ConflictError) return this.holds(); // then some lines were not received
    if (error instanceof ExpiredError) this.end(new RunEndedError());
    else await this.fail(error);
    return false;
  }

  // Reports whether the claim is still the current one, after an answer that may say that it is not.
  // It asks until the server decides: only that ends what the handler does.
  private async holds(): Promise<boolean> {
    const { signal } = this.ended;
    for (const delays = new Backoff(100, 2000); ; ) {
      const error = await this.post([]);
      if (error === undefined) return true;
      if (signal.aborted) return false;
      if (!isPassing(error)) {
        this.end(error instanceof ConflictError ? new LeaseLostError() : error instanceof ExpiredError ? new RunEndedError() : error);
        return false;
      }
      this.options.onError(error);
      await pause(Math.max(delays.next(), Math.min(error.retryAfterMs, 30_000)), signal);
    }
  }

  // A line is wrong: it cannot be stored, and none after it. The run ends in its place.
  private async fail(error: ShoalError): Promise<void> {
    this.options.onError(error);
    const n = this.queue[0]?.n ?? this.n + 1;
    this.end(error);
    const last = { n, json: JSON.stringify({ ...failedLine(error), code: "program_invalid", n }) };
    const refused = await this.post([last], new AbortController().signal);
    if (refused !== undefined) this.options.onError(refused);
  }

  // Sends what the handler has reported, and gives the run back, so that another program goes on
  // at once. If that fails, the lease ends by itself.
  private async giveBack(): Promise<void> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), giveBackWithinMs);
    const delays = new Backoff(100, 2000);
    while (this.queue.length > 0) {
      const error = await this.post(this.next(), limit.signal);
      if (error === undefined) continue;
      this.options.onError(error);
      if (limit.signal.aborted || !isPassing(error)) break;
      await pause(Math.max(delays.next(), error.retryAfterMs), limit.signal);
    }
    clearTimeout(timer);
  }

  private async follow(onOrder: (order: Order) => void): Promise<void> {
    const { signal } = this.ended;
    for (const delays = new Backoff(100, 2000); !signal.aborted; await pause(delays.next(), signal)) {
      try {
        for await (const order of new Stream<Order>(this.shoal.transport, `${this.path}/orders${this.query}`, { signal, retryForMs: Infinity, onLost: this.options.onError })) {
          if (order.type === "cancel") this.end(new RunEndedError());
          else onOrder(order);
        }
        return;
      } catch (error) {
        if (error instanceof ExpiredError) this.end(new RunEndedError());
        else if (!signal.aborted) this.options.onError(error);
        if (!(error instanceof ConflictError) || !(await this.holds())) return;
      }
    }
  }
}

// About the connection or the state of the server: the same report may be accepted later.
function isPassing({ status }: ShoalError): boolean {
  return status === 0 || status === 429 || status === 502 || status === 503 || status === 504;
}
