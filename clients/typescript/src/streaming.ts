// Applies events to the parts of a message that is streaming.
import type { Message, Part, ServerEvent, ToolPart } from "./types.js";
import { byteLength, byteSlice } from "./utf8.js";
import { completeMembers } from "./partial-json.js";

/** The progress of a streaming part. */
export interface StreamingPart {
  /** The number of UTF-8 bytes that have arrived. */
  readonly bytes: number;
  /** The JSON text of a tool call's arguments, or the text of reasoning, as far as it has arrived. */
  readonly input: string;
}

/** The events that change one part. */
export type PartEvent = Extract<
  ServerEvent,
  {
    type:
      | "text-start"
      | "text-delta"
      | "text-end"
      | "tool-input-start"
      | "tool-input-delta"
      | "tool-input-available"
      | "tool-output-available"
      | "tool-output-error"
      | "part.reset"
      | "part.removed";
  }
>;

/** The progress of a part of a snapshot; undefined if the part is complete. */
export function streamingPartOf(part: Part): StreamingPart | undefined {
  if (part.type === "text" && part.status === "streaming") return { bytes: byteLength(part.text), input: "" };
  return undefined;
}

/**
 * Returns the message after an event of one of its parts: the same object if nothing
 * changes, "gap" if text before a delta is missing.
 */
export function applyPart(m: Message, event: PartEvent, streaming: Map<string, StreamingPart>): Message | "gap" {
  const part = m.parts.find((p) => p.id === event.partId);
  switch (event.type) {
    case "text-start":
      if (part !== undefined) return m;
      streaming.set(event.partId, { bytes: 0, input: "" });
      return add(m, maskPrivate(event, { id: event.partId, type: "text", text: "", status: "streaming" }));
    case "text-delta":
      return textDelta(m, part, event, streaming);
    case "text-end":
      streaming.delete(event.partId);
      if (part === undefined || part.type !== "text") return m;
      return put(m, { ...part, text: event.text ?? part.text, status: textStatus(event.status) });
    case "tool-input-start":
      if (part !== undefined) return m;
      streaming.set(event.partId, { bytes: 0, input: "" });
      return add(m, maskPrivate(event, newTool(event)));
    case "tool-input-delta":
      return inputDelta(m, part, event, streaming);
    case "tool-input-available":
      streaming.delete(event.partId);
      if (!isVisibleTool(part)) return m;
      return put(m, { ...part, args: event.args ?? {}, status: part.status === "input_streaming" ? "running" : part.status });
    case "tool-output-available":
    case "tool-output-error":
      streaming.delete(event.partId);
      if (!isVisibleTool(part)) return m;
      return put(m, { ...part, result: event.result, error: event.error, answeredBy: event.answeredBy, decision: event.decision, status: event.status });
    case "part.reset":
      return truncate(m, part, event.offset, streaming);
    case "part.removed":
      streaming.delete(event.partId);
      return { ...m, parts: m.parts.filter((p) => p.id !== event.partId) };
  }
}

// Returns the text of a delta after the first `bytes` bytes; undefined if text before it is missing.
function newText(bytes: number, offset: number, delta: string): string | undefined {
  if (offset > bytes) return undefined;
  if (offset === bytes) return delta;
  return byteLength(delta) + offset <= bytes ? "" : byteSlice(delta, bytes - offset);
}

function textDelta(m: Message, part: Part | undefined, event: { partId: string; offset: number; delta: string }, streaming: Map<string, StreamingPart>): Message | "gap" {
  if (part === undefined || part.type !== "text" || part.status !== "streaming") return m;
  const bytes = streaming.get(part.id)?.bytes ?? byteLength(part.text);
  const delta = newText(bytes, event.offset, event.delta);
  if (delta === undefined) return "gap";
  if (delta === "") return m;
  streaming.set(part.id, { bytes: bytes + byteLength(delta), input: "" });
  return put(m, { ...part, text: part.text + delta });
}

function inputDelta(m: Message, part: Part | undefined, event: { partId: string; offset: number; delta: string }, streaming: Map<string, StreamingPart>): Message | "gap" {
  if (!isVisibleTool(part) || part.status !== "input_streaming") return m;
  // A snapshot does not contain incomplete arguments. Without their beginning they are not
  // shown until tool-input-available has all of them.
  const known = streaming.get(part.id);
  if (known === undefined) return m;
  const delta = newText(known.bytes, event.offset, event.delta);
  if (delta === undefined) {
    streaming.delete(part.id);
    return m;
  }
  if (delta === "") return m;
  const input = known.input + delta;
  streaming.set(part.id, { bytes: known.bytes + byteLength(delta), input });
  return put(m, { ...part, args: completeMembers(input) });
}

function truncate(m: Message, part: Part | undefined, offset: number, streaming: Map<string, StreamingPart>): Message {
  if (part === undefined) return m;
  if (part.type === "text") {
    const text = byteSlice(part.text, 0, offset);
    streaming.set(part.id, { bytes: byteLength(text), input: "" });
    return put(m, { ...part, text, status: "streaming" });
  }
  if (!isVisibleTool(part)) return m;
  const input = byteSlice(streaming.get(part.id)?.input ?? "", 0, offset);
  streaming.set(part.id, { bytes: byteLength(input), input });
  return put(m, { ...part, args: completeMembers(input), status: "input_streaming" });
}

function textStatus(status: string | undefined): "done" | "interrupted" {
  return status === "interrupted" ? "interrupted" : "done";
}

function isVisibleTool(part: Part | undefined): part is ToolPart {
  return part !== undefined && part.type === "tool_call" && !("private" in part && part.private);
}

function newTool(event: { partId: string; toolCallId: string; toolName: string; targetEntityId?: string; display?: unknown }): ToolPart {
  return {
    id: event.partId, type: "tool_call", toolCallId: event.toolCallId, toolName: event.toolName, args: {}, result: null, error: null,
    status: "input_streaming", display: event.display ?? null, answeredBy: null, editedArgs: null, decision: null, targetEntityId: event.targetEntityId ?? null,
  };
}

function maskPrivate(event: { partId: string; private?: boolean }, part: Part): Part {
  return event.private === true ? ({ id: part.id, type: part.type, private: true } as Part) : part;
}

function add(m: Message, part: Part): Message {
  return { ...m, parts: [...m.parts, part] };
}

function put(m: Message, part: Part): Message {
  return { ...m, parts: m.parts.map((p) => (p.id === part.id ? part : p)) };
}
