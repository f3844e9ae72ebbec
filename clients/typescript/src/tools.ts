// @shoal-dev/client/tools: executes client tools, which are calls of an agent that a program
// outside of the server answers.
import { Backoff, pause } from "./backoff.js";
import { InvalidError, ShoalError } from "./errors.js";
import { failedLine } from "./report.js";
import type { Shoal } from "./shoal.js";
import { Stream } from "./stream.js";
import type { PendingAction, PendingAnswer, ServerEvent } from "./types.js";

/** What a handler gets besides the arguments. */
export interface ClientToolCall {
  readonly action: PendingAction;
  /** Aborted when the call needs no result any more: its run was canceled, or somebody else has answered. */
  readonly signal: AbortSignal;
}

/**
 * Executes a call. What it returns is the result, in JSON; what it throws is the error that
 * the model reads. The arguments match the `inputSchema` of the tool; the type is not checked.
 */
export type ClientTool<Args = never> = (args: Args, call: ClientToolCall) => unknown;

/** Which calls a handler executes. */
export interface ClientToolOptions {
  /** Only those in this space. */
  readonly space?: string;
  /** Only those of runs that messages of the acting entity led to. Set it in pages: everybody in a space sees its calls. */
  readonly mine?: boolean;
  /** Receives what a handler throws, and why an answer was refused. */
  readonly onError?: (error: unknown) => void;
}

interface Registered extends ClientToolOptions {
  readonly handler: ClientTool;
}

/** Handlers by the names of their tools, and the calls that they execute. */
export class ClientTools {
  private readonly handlers = new Map<string, Registered>();
  private readonly calls = new Map<string, { readonly tool: Registered; readonly end: AbortController }>();

  constructor(private readonly shoal: Shoal) {}

  /** Adds a handler; a later one of the same tool replaces it. Returns a function that removes it; calls that it executes then are aborted and not answered. */
  add(name: string, handler: ClientTool, options: ClientToolOptions = {}): () => void {
    const added = { ...options, handler };
    this.handlers.set(name, added);
    return () => {
      if (this.handlers.get(name) !== added) return;
      this.handlers.delete(name);
      for (const [id, call] of this.calls) {
        if (call.tool !== added) continue;
        call.end.abort();
        this.calls.delete(id);
      }
    };
  }

  /** Whether no tool has a handler. */
  get empty(): boolean {
    return this.handlers.size === 0;
  }

  /** Executes an action if it has a handler, each once; aborts the call of one that is settled. */
  offer(action: PendingAction): void {
    if (action.status !== "open") {
      this.calls.get(action.id)?.end.abort();
      return void this.calls.delete(action.id);
    }
    const tool = this.handlers.get(action.toolName);
    if (action.kind !== "client_tool" || tool === undefined || this.calls.has(action.id)) return;
    if (tool.space !== undefined && tool.space !== action.spaceId) return;
    const end = new AbortController();
    this.calls.set(action.id, { tool, end });
    this.execute(action, tool, end.signal).catch((error: unknown) => {
      if (!end.signal.aborted) tool.onError?.(error);
    });
  }

  private async execute(action: PendingAction, tool: Registered, signal: AbortSignal): Promise<void> {
    if (tool.mine === true && !action.requesters.includes(await this.shoal.entity())) return;
    await exclusive(`shoal.tool.${action.id}`, async () => {
      // Another tab may have answered it while this one waited, and events list what others may answer.
      if (!(await this.mayAnswer(action)) || signal.aborted) return;
      const answer = await outcome(action, tool, signal);
      if (!signal.aborted) await this.answer(action, answer, signal);
    });
  }

  private async mayAnswer({ id, runId }: PendingAction): Promise<boolean> {
    return (await this.shoal.pending({ run: runId })).some((p) => p.id === id);
  }

  // The first answer wins; a late one is dropped without an error.
  private async answer(action: PendingAction, answer: PendingAnswer, signal: AbortSignal): Promise<void> {
    for (const delays = new Backoff(250, 8000); !signal.aborted; await pause(delays.next(), signal)) {
      try {
        return void (await this.shoal.answer(action.id, answer));
      } catch (thrown) {
        const error = ShoalError.from(thrown);
        if (error.status === 409 || error.status === 410 || error.status === 404) return;
        if (error instanceof InvalidError && "result" in answer) {
          await this.answer(action, { error: `The result of the program is not valid: ${error.message}` }, signal);
          throw error;
        }
        if (error.status !== 0 && error.status < 500) throw error;
      }
    }
  }
}

async function outcome(action: PendingAction, tool: Registered, signal: AbortSignal): Promise<PendingAnswer> {
  try {
    const result = (await tool.handler(action.args as never, { action, signal })) ?? null;
    JSON.stringify(result); // throws for what no JSON has
    return { result };
  } catch (error) {
    if (!signal.aborted) tool.onError?.(error);
    return { error: failedLine(error).text ?? "The program failed." };
  }
}

// Runs in one tab of the browser at a time; programs that are not pages have no locks.
async function exclusive(name: string, work: () => Promise<void>): Promise<void> {
  const { navigator } = globalThis as { navigator?: { locks?: { request(name: string, work: () => Promise<void>): Promise<void> } } };
  await (navigator?.locks === undefined ? work() : navigator.locks.request(name, work));
}

/** The handlers of a client, and what ends the stream that they share. */
interface Following {
  readonly tools: ClientTools;
  end: AbortController;
}

const followed = new WeakMap<Shoal, Following>();

/**
 * Executes the calls of a client tool: `onTool(shoal, "showMap", async ({ place }) => …)`. A
 * call is executed by one tab of a browser, and not again once it is answered; of several
 * programs the first answer wins. All handlers of a client share one stream, which reconnects
 * until the handler is removed by the function that this returns. `onError` also receives the
 * error with which the server refuses that stream.
 */
export function onTool<Args = any>(shoal: Shoal, name: string, handler: ClientTool<Args>, options: ClientToolOptions = {}): () => void {
  const of = followed.get(shoal) ?? { tools: new ClientTools(shoal), end: new AbortController() };
  followed.set(shoal, of);
  // The stream begins anew: another handler needs what it has already reported.
  of.end.abort();
  of.end = new AbortController();
  const remove = of.tools.add(name, handler as ClientTool, options);
  follow(shoal, of.tools, of.end.signal).catch((error: unknown) => options.onError?.(error));
  return () => {
    remove();
    if (of.tools.empty) of.end.abort();
  };
}

async function follow(shoal: Shoal, tools: ClientTools, signal: AbortSignal): Promise<void> {
  const load = async (): Promise<void> => {
    for (const action of await shoal.pending()) if (!signal.aborted) tools.offer(action);
  };
  const stream = new Stream<ServerEvent>(shoal.transport, `${shoal.path}/events`, { signal, manySnapshots: true, retryForMs: Infinity });
  for await (const event of stream) {
    if ("pendingAction" in event) tools.offer(event.pendingAction);
    // The stream begins with the spaces, or begins anew: what waited before is in the list.
    if (event.type === "snapshot.end") await load().catch(() => stream.restart());
  }
}
