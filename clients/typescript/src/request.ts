// One request to the API and its response.
import { ShoalError } from "./errors.js";
import type { Transport } from "./transport.js";

/** What a request sends besides its method and path. */
export interface RequestOptions {
  /** JSON text. */
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly cache?: "no-store";
  readonly signal?: AbortSignal;
}

/** Sends a request and returns the text of the response. Throws a ShoalError if the call fails. */
export async function requestText(transport: Transport, method: string, path: string, { body, headers, cache, signal }: RequestOptions = {}): Promise<string> {
  let response: Response;
  let text: string;
  try {
    response = await transport(path, { method, headers: body === undefined ? { ...headers } : { "Content-Type": "application/json", ...headers }, ...(body !== undefined && { body }), ...(cache && { cache }), ...(signal && { signal }) });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw ShoalError.from(error);
  }
  if (!response.ok) throw refused(response, text);
  return text;
}

/** The error in a response that is not ok. */
export async function refusal(response: Response): Promise<ShoalError> {
  return refused(response, await response.text());
}

function refused(response: Response, text: string): ShoalError {
  return ShoalError.of(response.status, parsed(text), retryAfterMs(response));
}

/** Like requestText, but parses the response as JSON. Returns undefined for an empty response. */
export async function request<T>(transport: Transport, method: string, path: string, options?: RequestOptions): Promise<T> {
  const text = await requestText(transport, method, path, options);
  if (text === "") return undefined as T;
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new ShoalError(0, "internal", "The response is not JSON. A proxy may have replaced it.");
  }
}

// Undefined for text that is not JSON, such as the error page of a proxy.
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the items of all pages of a list. Stops after the page that reaches `limit` items. */
export async function allPages<T>(page: (cursor: string | undefined) => Promise<{ items: readonly T[]; nextCursor: string | null }>, limit = 2000): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const next = await page(cursor);
    items.push(...next.items);
    cursor = next.nextCursor ?? undefined;
  } while (cursor !== undefined && items.length < limit);
  return items;
}

/** How long the server asks to wait before the next call; 0 if it does not say. */
export function retryAfterMs(response: Response): number {
  return 1000 * (Number(response.headers.get("Retry-After")) || 0);
}
