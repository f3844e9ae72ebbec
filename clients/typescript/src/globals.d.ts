// The globals that the client may use: those of the language, and the parts of the web
// platform that browsers, workers, Node, Deno and Bun have in common. The client is checked
// against this file instead of TypeScript's DOM library.

interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

type ReadableStreamReadResult<T> = { readonly done: false; readonly value: T } | { readonly done: true; readonly value?: undefined };

interface ReadableStreamDefaultReader<T> {
  read(): Promise<ReadableStreamReadResult<T>>;
}

interface ReadableStream<T> {
  getReader(): ReadableStreamDefaultReader<T>;
}

interface Headers {
  get(name: string): string | null;
}

declare class Response {
  constructor(body: string | null, init: { readonly status: number; readonly headers: Headers });
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array> | null;
  json(): Promise<unknown>;
  text(): Promise<string>;
}

declare class TextEncoder {
  encode(text: string): Uint8Array;
}

declare class TextDecoder {
  decode(bytes?: Uint8Array, options?: { readonly stream?: boolean }): string;
}

declare function setTimeout(callback: () => void, ms: number): number;
declare function clearTimeout(timer: number): void;
/** Only pages have it. */
// eslint-disable-next-line no-var
declare var requestAnimationFrame: ((callback: () => void) => unknown) | undefined;
declare const crypto: { getRandomValues(bytes: Uint8Array): Uint8Array };

interface RequestInit {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly cache?: "no-store";
  readonly signal?: AbortSignal;
}

declare function fetch(url: string, request?: RequestInit): Promise<Response>;
