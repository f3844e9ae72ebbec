// How events change the parts of a message that is still being written.
import type { Message, Part, ServerEvent, ToolPart } from "./types";
import { byteLength, byteSlice } from "./utf8";
import { wholeMembers } from "./partial-json";

/** What is known of a part in progress beside its value. */
export interface Growing {
  /** How many bytes of UTF-8 of it are here. */
  readonly bytes: number;
  /** The JSON of a tool's arguments so far; the text of reasoning. */
  readonly input: string;
}

/** The events that concern one part. */
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

/** What a part of a snapshot says of its progress; undefined for a whole one. */
export function growingOf(part: Part): Growing | undefined {
  if (part.type === "text" && part.status === "streaming") return { bytes: byteLength(part.text), input: "" };
  return undefined;
}

/**
 * The message after an event of one of its parts; the same message if it changes
 * nothing, "gap" if a delta does not join what is here.
 */
export function applyPart(m: Message, event: PartEvent, growing: Map<string, Growing>): Message | "gap" {
  const part = m.parts.find((p) => p.id === event.partId);
  switch (event.type) {
    case "text-start":
      if (part !== undefined) return m;
      growing.set(event.partId, { bytes: 0, input: "" });
      return add(m, opened(event, { id: event.partId, type: "text", text: "", status: "streaming" }));
    case "text-delta":
      return textDelta(m, part, event, growing);
    case "text-end":
      growing.delete(event.partId);
      if (part === undefined || part.type !== "text") return m;
      return put(m, { ...part, text: event.text ?? part.text, status: textStatus(event.status) });
    case "tool-input-start":
      if (part !== undefined) return m;
      growing.set(event.partId, { bytes: 0, input: "" });
      return add(m, opened(event, newTool(event)));
    case "tool-input-delta":
      return inputDelta(m, part, event, growing);
    case "tool-input-available":
      growing.delete(event.partId);
      if (!shownTool(part)) return m;
      return put(m, { ...part, args: event.args ?? {}, status: part.status === "input_streaming" ? "running" : part.status });
    case "tool-output-available":
    case "tool-output-error":
      growing.delete(event.partId);
      if (!shownTool(part)) return m;
      return put(m, { ...part, result: event.result, error: event.error, answeredBy: event.answeredBy, status: event.status });
    case "part.reset":
      return cutBack(m, part, event.offset, growing);
    case "part.removed":
      growing.delete(event.partId);
      return { ...m, parts: m.parts.filter((p) => p.id !== event.partId) };
  }
}

/** What of a delta is new behind `bytes` bytes: undefined when there is a hole. */
function fresh(bytes: number, offset: number, delta: string): string | undefined {
  if (offset > bytes) return undefined;
  if (offset === bytes) return delta;
  return byteLength(delta) + offset <= bytes ? "" : byteSlice(delta, bytes - offset);
}

function textDelta(m: Message, part: Part | undefined, event: { partId: string; offset: number; delta: string }, growing: Map<string, Growing>): Message | "gap" {
  if (part === undefined || part.type !== "text" || part.status !== "streaming") return m;
  const bytes = growing.get(part.id)?.bytes ?? byteLength(part.text);
  const delta = fresh(bytes, event.offset, event.delta);
  if (delta === undefined) return "gap";
  if (delta === "") return m;
  growing.set(part.id, { bytes: bytes + byteLength(delta), input: "" });
  return put(m, { ...part, text: part.text + delta });
}

function inputDelta(m: Message, part: Part | undefined, event: { partId: string; offset: number; delta: string }, growing: Map<string, Growing>): Message | "gap" {
  if (!shownTool(part) || part.status !== "input_streaming") return m;
  // A snapshot does not hold half-written arguments: what came before it is not
  // shown, and what is whole comes with tool-input-available.
  const known = growing.get(part.id);
  if (known === undefined) return m;
  const delta = fresh(known.bytes, event.offset, event.delta);
  if (delta === undefined) {
    growing.delete(part.id);
    return m;
  }
  if (delta === "") return m;
  const input = known.input + delta;
  growing.set(part.id, { bytes: known.bytes + byteLength(delta), input });
  return put(m, { ...part, args: wholeMembers(input) });
}

function cutBack(m: Message, part: Part | undefined, offset: number, growing: Map<string, Growing>): Message {
  if (part === undefined) return m;
  if (part.type === "text") {
    const text = byteSlice(part.text, 0, offset);
    growing.set(part.id, { bytes: byteLength(text), input: "" });
    return put(m, { ...part, text, status: "streaming" });
  }
  if (!shownTool(part)) return m;
  const input = byteSlice(growing.get(part.id)?.input ?? "", 0, offset);
  growing.set(part.id, { bytes: byteLength(input), input });
  return put(m, { ...part, args: wholeMembers(input), status: "input_streaming" });
}

function textStatus(status: string | undefined): "done" | "interrupted" {
  return status === "interrupted" ? "interrupted" : "done";
}

function shownTool(part: Part | undefined): part is ToolPart {
  return part !== undefined && part.type === "tool_call" && !("private" in part && part.private);
}

function newTool(event: { partId: string; toolCallId: string; toolName: string; targetEntityId?: string; display?: unknown }): ToolPart {
  return {
    id: event.partId, type: "tool_call", toolCallId: event.toolCallId, toolName: event.toolName, args: {}, result: null, error: null,
    status: "input_streaming", display: event.display ?? null, answeredBy: null, editedArgs: null, targetEntityId: event.targetEntityId ?? null,
  };
}

function opened(event: { partId: string; private?: boolean }, part: Part): Part {
  return event.private === true ? ({ id: part.id, type: part.type, private: true } as Part) : part;
}

function add(m: Message, part: Part): Message {
  return { ...m, parts: [...m.parts, part] };
}

function put(m: Message, part: Part): Message {
  return { ...m, parts: m.parts.map((p) => (p.id === part.id ? part : p)) };
}
