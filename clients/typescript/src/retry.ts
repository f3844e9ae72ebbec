// Calls that survive broken connections, limits and restarts of the server.
import { Backoff, onAbort, pause } from "./backoff.js";
import { ShoalError } from "./errors.js";
import { retryAfterMs } from "./request.js";
import type { Transport, TransportRequest } from "./transport.js";

/** How many attempts a call makes at least, if it may be repeated. */
const attempts = 5;
const answerWithinMs = 30_000;
const longestRetryAfterMs = 30_000;

/**
 * A transport that repeats calls: after 429 all, and after a broken connection or a 502, 503
 * or 504 those that are safe to repeat. It tries five times, and for `retryForMs`. Posts get
 * an idempotency key, so that what they create is created once. The response is complete.
 */
export function retrying(transport: Transport, retryForMs: number): Transport {
  return async (path, given) => {
    const request = given.method === "POST" ? { ...given, headers: { "Idempotency-Key": randomKey(), ...given.headers } } : given;
    const once = request.method === "DELETE" || path.endsWith("/import");
    const delays = new Backoff(100, 2000);
    const began = Date.now();
    for (let tries = 1; ; tries++) {
      const outcome = await attempt(transport, path, request).catch(ShoalError.from);
      if (request.signal?.aborted) throw request.signal.reason;
      const status = outcome.status;
      const again = status === 429 || (!once && (status === 0 || status === 502 || status === 503 || status === 504));
      const wait = Math.max(delays.next(), outcome instanceof ShoalError ? 0 : retryAfterMs(outcome));
      if (!again || wait > longestRetryAfterMs || (tries >= attempts && Date.now() - began + wait > retryForMs)) {
        if (outcome instanceof ShoalError) throw outcome;
        return outcome;
      }
      await pause(wait, request.signal);
    }
  };
}

/** A key that no other call has. `crypto.randomUUID` is missing on pages without TLS. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}

/** Makes one attempt, and reads the whole response. Throws UnreachableError if it is not complete in time. */
export async function attempt(transport: Transport, path: string, request: TransportRequest, withinMs = answerWithinMs): Promise<Response> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), withinMs);
  const forget = onAbort(request.signal, () => limit.abort());
  try {
    const response = await transport(path, { ...request, signal: limit.signal });
    const text = await response.text();
    return new Response(response.status === 204 ? null : text, { status: response.status, headers: response.headers });
  } catch (error) {
    throw error instanceof ShoalError ? error : ShoalError.unreachable();
  } finally {
    clearTimeout(timer);
    forget();
  }
}
