// Calls of the REST API, typed by its OpenAPI document.
import { request, requestText } from "./request.js";
import type { paths } from "./schema.js";
import { entityHeader, type Transport } from "./transport.js";

/** An operation of the OpenAPI document, as openapi-typescript declares it. */
interface Operation {
  readonly parameters: { readonly path?: unknown; readonly query?: unknown };
  readonly requestBody?: unknown;
  readonly responses: unknown;
}

/** The paths that have an operation of a method. */
type PathOf<M extends string> = { [P in keyof paths]: paths[P] extends { readonly [K in M]: Operation } ? P : never }[keyof paths];

type OperationOf<P extends keyof paths, M extends string> = paths[P] extends { readonly [K in M]: infer O extends Operation } ? O : never;

type ContentOf<R> = R extends { content: infer C } ? C[keyof C] : undefined;

/** What an operation returns if it succeeds; undefined for an empty response. */
type ResultOf<O extends Operation> = { [S in keyof O["responses"]]: S extends 200 | 201 | 202 | 204 ? ContentOf<O["responses"][S]> : never }[keyof O["responses"]];

type Params<O extends Operation> = Pick<O["parameters"], "path" | "query">;

type ContentOfBody<R> = R extends { content: { readonly "application/json": infer B } } ? B : never;

/** The body of an operation; never if it has none. */
type BodyOf<O extends Operation> = ContentOfBody<NonNullable<O["requestBody"]>>;

/** `jsonText` is sent in place of `body`, for values whose numbers do not fit into JavaScript's. */
type BodyOption<O extends Operation> =
  [BodyOf<O>] extends [never] ? { readonly body?: undefined; readonly jsonText?: undefined }
  : O extends { readonly requestBody: unknown } ? { readonly body: BodyOf<O>; readonly jsonText?: undefined } | { readonly body?: undefined; readonly jsonText: string }
  : { readonly body?: BodyOf<O>; readonly jsonText?: string };

/** Yes if an operation needs no parameters, else No. */
type IfParamsOptional<O extends Operation, Yes, No> = undefined extends O["parameters"]["path"] ? (undefined extends O["parameters"]["query"] ? Yes : No) : No;

type ParamsOption<O extends Operation> = IfParamsOptional<O, { readonly params?: Params<O> }, { readonly params: Params<O> }>;

/** What a call sends besides its path. */
export type CallOptions<O extends Operation> = ParamsOption<O> & BodyOption<O> & { readonly headers?: Record<string, string>; readonly signal?: AbortSignal };

type CallArguments<O extends Operation> =
  undefined extends O["requestBody"] ? IfParamsOptional<O, [options?: CallOptions<O>], [options: CallOptions<O>]> : [options: CallOptions<O>];

/** The calls of one method. All of them throw a ShoalError if the call fails. */
interface Call<M extends string> {
  <P extends PathOf<M>>(path: P, ...options: CallArguments<OperationOf<P, M>>): Promise<ResultOf<OperationOf<P, M>>>;
  /** Returns the text of the response, for values whose numbers do not fit into JavaScript's. */
  text<P extends PathOf<M>>(path: P, ...options: CallArguments<OperationOf<P, M>>): Promise<string>;
}

/** The operations of the API by their methods. */
export interface Client {
  readonly GET: Call<"get">;
  readonly PUT: Call<"put">;
  readonly POST: Call<"post">;
  readonly PATCH: Call<"patch">;
  readonly DELETE: Call<"delete">;
}

/** The options of a call without their types. */
interface AnyOptions {
  readonly params?: { readonly path?: object; readonly query?: object };
  readonly body?: unknown;
  readonly jsonText?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** `entity` returns the entity that calls act as; null leaves it to the server, which takes the key's own. */
export function createClient(transport: Transport, entity: () => string | null = () => null): Client {
  const call = (method: string): unknown => {
    const json = (path: string, options: AnyOptions = {}) => request(transport, method, urlOf(path, options), sent(options));
    const text = (path: string, options: AnyOptions = {}) => requestText(transport, method, urlOf(path, options), sent(options));
    return Object.assign(json, { text });
  };
  const sent = ({ body, jsonText, headers, signal }: AnyOptions) => {
    const acting = entity();
    return { body: jsonText ?? (body === undefined ? undefined : JSON.stringify(body)), headers: acting === null ? headers : { [entityHeader]: acting, ...headers }, signal };
  };
  return { GET: call("GET"), PUT: call("PUT"), POST: call("POST"), PATCH: call("PATCH"), DELETE: call("DELETE") } as Client;
}

// Fills a path template, and appends the query without its undefined and null values.
function urlOf(template: string, { params }: AnyOptions): string {
  const values = new Map<string, unknown>(Object.entries(params?.path ?? {}));
  const path = template.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(String(values.get(name))));
  const query = Object.entries(params?.query ?? {}).flatMap(([name, value]: [string, unknown]) =>
    value === undefined || value === null ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`],
  );
  return query.length === 0 ? path : `${path}?${query.join("&")}`;
}
