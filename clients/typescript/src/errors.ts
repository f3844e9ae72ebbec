// Errors of the server (RFC 9457), and the error of a server that does not respond.
import type { FieldError, ProblemBody } from "./types.js";

/** What an error has besides its message. */
interface Details {
  readonly fields?: readonly FieldError[];
  readonly requestId?: string;
  readonly retryAfterMs?: number;
}

/** The error of a call: a message for people and a code for programs. Its subclasses are the kinds of codes. */
export class ShoalError extends Error {
  override readonly name: string = "ShoalError";
  /** The invalid fields, located as body.a.b or query.a. */
  readonly fields: readonly FieldError[];
  /** The id of the request in the server's log; empty if no response arrived. */
  readonly requestId: string;
  /** How long the server asks to wait before the next call; 0 if it does not say. */
  readonly retryAfterMs: number;

  constructor(
    /** The HTTP status; 0 if no response arrived. */
    readonly status: number,
    /** The error code of the API; `unreachable` if no response arrived. */
    readonly code: string,
    message: string,
    { fields = [], requestId = "", retryAfterMs = 0 }: Details = {},
  ) {
    super(message);
    this.fields = fields;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }

  /** The message about one field, such as body.name; undefined if the field is valid. */
  at(location: string): string | undefined {
    return this.fields.find((f) => f.location === location)?.message;
  }

  /** The error in a response. `body` is the parsed body, undefined if it is not JSON. */
  static of(status: number, body: unknown, retryAfterMs = 0): ShoalError {
    const p = (typeof body === "object" && body !== null ? body : {}) as Partial<ProblemBody>;
    const message = p.detail ?? p.title ?? `The server returned status ${status}.`;
    const code = p.code ?? codes[status] ?? "internal";
    return new (kinds[code] ?? byStatus[status] ?? ShoalError)(status, code, message, { fields: p.errors, requestId: p.requestId, retryAfterMs });
  }

  /** The error of a request without a response. */
  static unreachable(message = "Server unreachable. Check your connection and try again."): ShoalError {
    return new UnreachableError(0, "unreachable", message);
  }

  /** Converts a thrown value to an error. A TypeError is what fetch throws without a response. */
  static from(thrown: unknown): ShoalError {
    if (thrown instanceof ShoalError) return thrown;
    if (thrown instanceof TypeError) return ShoalError.unreachable();
    return new ShoalError(0, "internal", thrown instanceof Error ? thrown.message : String(thrown));
  }
}

/** No response arrived: whether the call had an effect is unknown. */
export class UnreachableError extends ShoalError {
  override readonly name = "UnreachableError";
}

/** The key is missing, wrong, expired or revoked. */
export class UnauthenticatedError extends ShoalError {
  override readonly name = "UnauthenticatedError";
}

/** The caller may not do this. */
export class ForbiddenError extends ShoalError {
  override readonly name = "ForbiddenError";
}

/** It does not exist, or the caller may not see it. */
export class NotFoundError extends ShoalError {
  override readonly name = "NotFoundError";
}

/** The state of what exists does not allow it: somebody was faster, or a space is closed. */
export class ConflictError extends ShoalError {
  override readonly name = "ConflictError";
}

/** It has ended: the run, or the time to answer. */
export class ExpiredError extends ShoalError {
  override readonly name = "ExpiredError";
}

/** The call is wrong; `fields` names what. */
export class InvalidError extends ShoalError {
  override readonly name = "InvalidError";
}

/** Too many calls; `retryAfterMs` says when to try again. */
export class RateLimitedError extends ShoalError {
  override readonly name = "RateLimitedError";
}

/** Nobody has answered in time. The message was posted. */
export class TimedOutError extends ShoalError {
  override readonly name = "TimedOutError";
}

/** The run that should have answered has failed, or was canceled. */
export class RunFailedError extends ShoalError {
  override readonly name = "RunFailedError";
}

/** What a proxy may answer without a code. */
const codes: Readonly<Record<number, string>> = { 401: "unauthenticated", 403: "forbidden", 413: "too_large", 429: "rate_limited", 502: "unreachable", 503: "busy", 504: "unreachable" };

const kinds: Readonly<Record<string, typeof ShoalError>> = { unreachable: UnreachableError };

const byStatus: Readonly<Record<number, typeof ShoalError>> = {
  400: InvalidError, 401: UnauthenticatedError, 403: ForbiddenError, 404: NotFoundError, 409: ConflictError,
  410: ExpiredError, 413: InvalidError, 415: InvalidError, 422: InvalidError, 429: RateLimitedError,
};
