// What a custom renderer and the console say to each other. The frame of a renderer
// has an origin of its own that is like no other, so whatever comes from it is only
// a request: a height, a proposed answer, a page to open.
import type { RendererProps } from "../contract";

/** The message that the frame receives after each change. */
export interface RenderMessage extends Omit<RendererProps, "tool"> {
  readonly shoal: 1;
  readonly type: "render";
  readonly tool: string;
  /** Whether the reader may answer now. */
  readonly canAnswer: boolean;
  readonly theme: "light" | "dark";
  readonly locale: string;
}

/** The requests that a frame can send. */
export type FrameRequest = { readonly type: "ready" } | { readonly type: "height"; readonly px: number } | { readonly type: "answer"; readonly value: unknown } | { readonly type: "open"; readonly url: string };

const lowest = 24;
const highest = 2000;
const mostAnswer = 256 << 10;

/** The request in a message of the frame; undefined for anything else. */
export function requestOf(data: unknown): FrameRequest | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const said = data as Record<string, unknown>;
  if (said.shoal !== 1) return undefined;
  switch (said.type) {
    case "ready":
      return { type: "ready" };
    case "height":
      return typeof said.px === "number" && Number.isFinite(said.px) ? { type: "height", px: Math.min(highest, Math.max(lowest, Math.round(said.px))) } : undefined;
    case "answer":
      return proposal(said.value);
    case "open":
      return typeof said.url === "string" && said.url.length <= 4096 ? { type: "open", url: said.url } : undefined;
    default:
      return undefined;
  }
}

// Only what JSON can say is proposed, and only as large as an answer may be.
function proposal(value: unknown): FrameRequest | undefined {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined || text.length > mostAnswer ? undefined : { type: "answer", value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
