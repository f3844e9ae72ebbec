// Errors as the server tells them (RFC 9457), and the one for a server that does
// not answer.
import type { FieldError, ProblemBody } from "./types";

/** What went wrong with a call: words for people, a code for programs. */
export class Problem extends Error {
  constructor(
    /** The HTTP status; 0 when no answer came. */
    readonly status: number,
    /** The contract's code, `unreachable` when no answer came. */
    readonly code: string,
    message: string,
    /** Every wrong field, located as body.a.b or query.a. */
    readonly fields: readonly FieldError[] = [],
    /** What the server's log calls the request; empty when no answer came. */
    readonly requestId: string = "",
  ) {
    super(message);
    this.name = "Problem";
  }

  /** What is wrong with a field such as body.name; undefined if nothing is. */
  at(location: string): string | undefined {
    return this.fields.find((f) => f.location === location)?.message;
  }

  /** The problem of a call that was answered with an error. */
  static of(status: number, body: unknown): Problem {
    const p = (typeof body === "object" && body !== null ? body : {}) as Partial<ProblemBody>;
    return new Problem(status, p.code ?? "internal", p.detail ?? p.title ?? `The server answered ${status}.`, p.errors ?? [], p.requestId ?? "");
  }

  /** The problem of a call that was not answered. */
  static unreachable(): Problem {
    return new Problem(0, "unreachable", "The server does not answer. What you see is what was known before.");
  }

  /** Any thrown thing as a problem. */
  static from(thrown: unknown): Problem {
    if (thrown instanceof Problem) return thrown;
    if (thrown instanceof TypeError) return Problem.unreachable();
    return new Problem(0, "internal", thrown instanceof Error ? thrown.message : String(thrown));
  }
}
