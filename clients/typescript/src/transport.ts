// How the client reaches the server. The client knows neither addresses nor credentials.

/** The header in which an admin names the entity that it acts as. */
export const entityHeader = "X-Shoal-Entity";

/** A request to the server. */
export interface TransportRequest {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly cache?: "no-store";
  readonly signal?: AbortSignal;
}

/**
 * Sends a request to a path of the server, such as "/v1/me", with the caller's credentials.
 * A transport is a fetch that adds the address and the credentials. It rejects with a
 * TypeError if no response arrives, as fetch does.
 */
export type Transport = (path: string, request: TransportRequest) => Promise<Response>;
