// Calls of the server's REST API, typed by its OpenAPI document. The browser's cookie and
// its other half prove who calls; an admin names the entity it acts as.
import createClient, { type Middleware } from "openapi-fetch";
import { entityHeader } from "@/client/header";
import { Problem } from "@/client/problem";
import type { paths } from "@/client/schema";
import { signInHeaders } from "./sign-in";

let acting: string | null = null;

/** Says as which entity an admin's calls act from now on; null: as none. */
export function actAs(entity: string | null): void {
  acting = entity;
}

/** As which entity calls act; null: as the key's own. */
export function actor(): string | null {
  return acting;
}

const onError: Middleware = {
  async onRequest({ request }) {
    for (const [name, value] of Object.entries(await signInHeaders())) request.headers.set(name, value);
    if (acting !== null && !request.headers.has(entityHeader)) request.headers.set(entityHeader, acting);
  },
  async onResponse({ response }) {
    if (response.ok) return;
    let body: unknown;
    try {
      body = await response.clone().json();
    } catch {
      body = undefined; // a proxy's error page, perhaps
    }
    throw Problem.of(response.status, body);
  },
  onError({ error }) {
    return error instanceof TypeError ? Problem.unreachable() : Problem.from(error);
  },
};

/** The API. Every call that fails throws a Problem. */
export const api = createClient<paths>({ credentials: "same-origin" });
api.use(onError);

/**
 * A call that the OpenAPI document does not describe (those under /console).
 * Returns the parsed answer, undefined for none; throws a Problem.
 */
export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers = await signInHeaders();
  const init: RequestInit = { method, credentials: "same-origin", headers };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    headers["Content-Type"] = "application/json";
  }
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch {
    throw Problem.unreachable();
  }
  const text = await response.text();
  let answer: unknown;
  try {
    answer = text === "" ? undefined : JSON.parse(text);
  } catch {
    answer = undefined;
  }
  if (!response.ok) throw Problem.of(response.status, answer);
  return answer as T;
}

// openapi-fetch maps over the members of readonly arrays as if they were objects;
// this turns such a type back into the array that the value is.
type Whole<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends { readonly [Symbol.unscopables]: unknown; readonly [n: number]: infer E }
    ? readonly Whole<E>[]
    : T extends object
      ? { readonly [K in keyof T]: Whole<T[K]> }
      : T;

/** The data of a call that cannot be without: openapi-fetch types it as optional. */
export async function data<T>(called: Promise<{ data?: T }>): Promise<Whole<T>> {
  return (await called).data as Whole<T>;
}

/** All items of a list, page after page, at most `most`. */
export async function all<T>(page: (cursor: string | undefined) => Promise<{ items: readonly T[]; nextCursor: string | null }>, most = 2000): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const got = await page(cursor);
    items.push(...got.items);
    cursor = got.nextCursor ?? undefined;
  } while (cursor !== undefined && items.length < most);
  return items;
}
