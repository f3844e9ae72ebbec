// The entry of the client: one server, one key, one session.
import { type Client, createClient } from "./client.js";
import { ShoalError } from "./errors.js";
import { allPages } from "./request.js";
import { retrying } from "./retry.js";
import { type Answered, type Draft, send, type SendOptions, type WaitForAnswer } from "./send.js";
import { Stream } from "./stream.js";
import { entityHeader, type Transport } from "./transport.js";
import type { Caller, Message, PendingAction, PendingAnswer, ServerEvent } from "./types.js";
import { apiVersion, versionHeader } from "./version.js";
import { type Batch, inbox, type InboxOptions, wait, type WaitRequest, type WaitResult } from "./wait.js";
import { watch } from "./watch.js";

/** The server to call, and the identity. */
export interface ShoalOptions {
  /** The address of the server, such as http://127.0.0.1:7462. */
  readonly url: string;
  /** The secret that authenticates the caller. */
  readonly key: string;
  /** The session; `default` if it is left out. */
  readonly session?: string;
  /** The entity to act as. Only an admin may name one that is not its key's own. */
  readonly as?: string;
  /** How long a call is repeated while the server is unreachable, so that it survives a restart: 10 s if it is left out. */
  readonly retryForMs?: number;
  /** Replaces the global fetch. */
  readonly fetch?: typeof fetch;
}

/** What to follow: the spaces of the caller, or one space, or one run. */
export interface FollowOptions {
  readonly space?: string;
  readonly run?: string;
  /** Resumes after the event with this cursor. Without it the stream begins with snapshots. */
  readonly after?: string;
  /** Ends the stream without an error. */
  readonly signal?: AbortSignal;
  /** The connection broke; the stream reconnects. */
  readonly onLost?: (error: ShoalError) => void;
}

/** Which pending actions to list: by default those that can be answered. */
export interface PendingOptions {
  readonly space?: string;
  readonly run?: string;
  readonly status?: readonly PendingAction["status"][];
}

/** A session of a server. It makes no call before it has to. */
export class Shoal {
  /** The calls of the API by method and path, typed by the OpenAPI document. They throw a ShoalError. */
  readonly api: Client;
  readonly session: string;
  /** The address of the server, without a slash at its end. */
  readonly url: string;
  /** Sends one request, without repeating it. */
  readonly transport: Transport;
  private me: Promise<Caller> | undefined;

  constructor(private readonly options: ShoalOptions) {
    const base = (this.url = addressOf(options.url));
    if (/[^!-~]/.test(options.key)) throw new TypeError("The key holds characters that no key has; it is one word.");
    this.session = options.session ?? "default";
    const send = options.fetch ?? ((url, request) => fetch(url, request));
    const identity: Record<string, string> = { [versionHeader]: apiVersion, ...(options.key !== "" && { Authorization: `Bearer ${options.key}` }), ...(options.as !== undefined && { [entityHeader]: options.as }) };
    this.transport = async (path, request) => {
      try {
        return await send(base + path, { ...request, headers: { ...identity, ...request.headers } });
      } catch (error) {
        throw error instanceof TypeError ? ShoalError.unreachable(`No server answers at ${base}${causeOf(error)}.`) : error;
      }
    };
    this.api = createClient(retrying(this.transport, options.retryForMs ?? 10_000));
  }

  /** Who the key is: its role, its entity and its session. */
  caller(): Promise<Caller> {
    return this.api.GET("/v1/me");
  }

  /** The entity that the calls act as. Throws if the key has no entity. */
  async entity(): Promise<string> {
    if (this.actingAs !== undefined) return this.actingAs;
    this.me ??= this.caller();
    const { entityId } = await this.me.catch((error: unknown) => {
      this.me = undefined;
      throw error;
    });
    if (entityId === null) throw new ShoalError(0, "entity_required", "The key belongs to no entity. Name the acting entity with the option `as`.");
    return entityId;
  }

  /**
   * Posts a message: a text, or parts and mentions. It is posted once, also if the connection
   * breaks. With `wait` it also waits for the answer: the next complete message of a mentioned
   * member in the space, or of the agent that acts without a mention.
   */
  send(space: string, message: string | Draft, options: WaitForAnswer): Promise<Answered>;
  send(space: string, message: string | Draft, options?: SendOptions): Promise<Message>;
  send(space: string, message: string | Draft, options: SendOptions = {}): Promise<Message | Answered> {
    return send(this, space, message, options);
  }

  /** The newest messages of a space, or those before or after a `seq`; the oldest first. */
  async messages(space: string, page: { readonly before?: number; readonly after?: number; readonly limit?: number } = {}): Promise<readonly Message[]> {
    return (await this.api.GET("/v1/sessions/{session}/spaces/{space}/messages", { params: { path: { session: this.session, space }, query: page } })).items;
  }

  /**
   * The events of the caller's spaces, of one space or of one run, in order, each once. The
   * stream reconnects after the last event. A snapshot replaces what came before; it comes
   * first, and again if the connection was lost for longer than the server stores events.
   */
  follow({ space, run, after, signal, onLost }: FollowOptions = {}): Stream<ServerEvent> {
    const of = run !== undefined ? `/runs/${encodeURIComponent(run)}` : space !== undefined ? `/spaces/${encodeURIComponent(space)}` : "";
    const retryForMs = this.options.retryForMs ?? 10_000;
    return new Stream(this.transport, `${this.path}${of}/events`, { after, signal, onLost, retryForMs, manySnapshots: of === "" });
  }

  /** The messages of a space as they change: first the newest that exist, then each while it is written. */
  watch(space: string, options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<Message> {
    return watch(this.follow({ space, ...options }));
  }

  /** Waits for unread messages of the acting entity. Returns at once if there are any. */
  wait(request: WaitRequest = {}): Promise<WaitResult> {
    return wait(this, request);
  }

  /** The unread messages of the acting entity, as they come. A batch is acknowledged when the next is asked for. */
  inbox(options: InboxOptions = {}): AsyncGenerator<Batch> {
    return inbox(this, options);
  }

  /** The actions that runs wait for, the oldest first: by default those that can be answered. */
  pending({ space, run, status }: PendingOptions = {}): Promise<PendingAction[]> {
    const query = { space, run, status: status?.join(","), limit: 200 };
    return allPages((cursor) => this.api.GET("/v1/sessions/{session}/pending-actions", { params: { path: { session: this.session }, query: { ...query, cursor } } }));
  }

  /** Answers a pending action: `{approved}`, `{answer}`, `{result}` or `{error}`. The first answer wins; a different one throws a ConflictError. */
  answer(pending: string, answer: PendingAnswer): Promise<PendingAction> {
    return this.api.POST("/v1/sessions/{session}/pending-actions/{pending}/answer", { params: { path: { session: this.session, pending } }, body: answer });
  }

  /** The entity that the option `as` names. */
  get actingAs(): string | undefined {
    return this.options.as;
  }

  /** The path of the session. */
  get path(): string {
    return `/v1/sessions/${encodeURIComponent(this.session)}`;
  }
}

function addressOf(text: string): string {
  const url = /^https?:\/\/[^\s@?#]+$/.test(text) ? text : undefined;
  if (url === undefined) throw new TypeError(`${JSON.stringify(text)} is not the URL of a server; one looks like http://127.0.0.1:7462.`);
  return url.replace(/\/+$/, "");
}

function causeOf(error: TypeError): string {
  const { cause } = error as { cause?: { code?: string } };
  return cause?.code === undefined ? "" : ` (${cause.code})`;
}
