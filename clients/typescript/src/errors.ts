// Errors of the server (RFC 9457), and the error of a server that does not respond.
import type { FieldError, ProblemBody } from "./types.js";

/** The error of a call: a message for people and a code for programs. */
export class ShoalError extends Error {
  constructor(
    /** The HTTP status; 0 if no response arrived. */
    readonly status: number,
    /** The error code of the API; `unreachable` if no response arrived. */
    readonly code: string,
    message: string,
    /** The invalid fields, located as body.a.b or query.a. */
    readonly fields: readonly FieldError[] = [],
    /** The id of the request in the server's log; empty if no response arrived. */
    readonly requestId: string = "",
  ) {
    super(message);
    this.name = "Problem";
  }

  /** The message about one field, such as body.name; undefined if the field is valid. */
  at(location: string): string | undefined {
    return this.fields.find((f) => f.location === location)?.message;
  }

  /** The problem in an error response. `body` is the parsed body, undefined if it is not JSON. */
  static of(status: number, body: unknown): ShoalError {
    const p = (typeof body === "object" && body !== null ? body : {}) as Partial<ProblemBody>;
    return new ShoalError(status, p.code ?? "internal", p.detail ?? p.title ?? `The server returned status ${status}.`, p.errors ?? [], p.requestId ?? "");
  }

  /** The problem of a request without a response. */
  static unreachable(): ShoalError {
    return new ShoalError(0, "unreachable", "Server unreachable. Check your connection and try again.");
  }

  /** Converts a thrown value to a problem. A TypeError is what fetch throws without a response. */
  static from(thrown: unknown): ShoalError {
    if (thrown instanceof ShoalError) return thrown;
    if (thrown instanceof TypeError) return ShoalError.unreachable();
    return new ShoalError(0, "internal", thrown instanceof Error ? thrown.message : String(thrown));
  }
}
