// The console's calls of the API.
import { createClient, request } from "@shoal-dev/client";
import { transport } from "./transport";

let acting: string | null = null;

/** Sets the entity that an admin's calls act as; null for none. */
export function actAs(entity: string | null): void {
  acting = entity;
}

/** The entity that calls act as; null for the key's own. */
export function actor(): string | null {
  return acting;
}

/** The API. All calls throw a ShoalError if they fail. */
export const api = createClient(transport, actor);

/** Calls a route below /console, which the OpenAPI document does not have. Throws a ShoalError if it fails. */
export function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  return request(transport, method, path, body === undefined ? {} : { body: JSON.stringify(body) });
}
