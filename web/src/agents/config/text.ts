// A config as text that people write: YAML, or JSON. Comments are the author's
// own; the server keeps what a config says, not how it was written.
import { isMap, isScalar, isSeq, LineCounter, parseDocument, stringify } from "yaml";
import { isObject, type Json, type JsonObject, type Path, readJson, settleNumbers, writeJson } from "./json";

export type Format = "yaml" | "json";

/** Why a text cannot be read. */
export interface TextProblem {
  readonly message: string;
  /** The line it breaks off at, from 1, if that is known. */
  readonly line?: number;
}

export type Read<T> = { readonly value: T } | { readonly problem: TextProblem };

const looksLikeJson = (text: string): boolean => /^\s*[{[]/.test(text);

/** Which of the two a text is written in. */
export function formatOf(text: string): Format {
  return /^\s*\{/.test(text) ? "json" : "yaml";
}

/** Reads any value, written in JSON or YAML. */
export function readValue(text: string): Read<Json> {
  if (looksLikeJson(text)) {
    try {
      return { value: readJson(text) };
    } catch {
      // Perhaps YAML in its flow form; if not, YAML says where it breaks off.
    }
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, intAsBigInt: true, prettyErrors: false });
  const [error] = [...document.errors, ...document.warnings];
  if (error !== undefined) return { problem: { message: sentence(error.message), line: lines.linePos(error.pos[0]).line } };
  try {
    return { value: settleNumbers((document.toJS({ maxAliasCount: 1000 }) ?? null) as Json) };
  } catch (thrown) {
    return { problem: { message: sentence(thrown instanceof Error ? thrown.message : String(thrown)) } };
  }
}

/** Reads a config: a text that holds an object. */
export function readConfig(text: string): Read<JsonObject> {
  const read = readValue(text);
  if ("problem" in read) return read;
  if (isObject(read.value)) return { value: read.value };
  return { problem: { message: read.value === null ? "There is nothing in it." : "It is not a config: that is an object with the fields version, agent, model and others.", line: 1 } };
}

const sentence = (text: string): string => (text.endsWith(".") ? text : `${text}.`);

/** Writes a value so that reading it gives the same value. */
export function writeValue(value: Json, format: Format): string {
  if (format === "json") return `${writeJson(value, 2)}\n`;
  return stringify(value, { lineWidth: 0, blockQuote: "literal", aliasDuplicateObjects: false });
}

/** The line of a value in a text, from 1; of the nearest one around it where it is not there. */
export function lineOf(text: string, path: Path): number | undefined {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  let node: unknown = document.contents;
  let found: number | undefined;
  for (const step of path) {
    let next: unknown;
    if (typeof step === "number" && isSeq(node)) {
      next = node.items[step];
      found = begin(next) ?? found;
    } else if (typeof step === "string" && isMap(node)) {
      const pair = node.items.find((p) => isScalar(p.key) && String(p.key.value) === step);
      next = pair?.value;
      found = begin(pair?.key) ?? found;
    }
    if (next === undefined || next === null) break;
    node = next;
  }
  return found === undefined ? undefined : lines.linePos(found).line;
}

function begin(node: unknown): number | undefined {
  const range = (node as { range?: readonly number[] | null } | undefined)?.range;
  return range?.[0];
}
