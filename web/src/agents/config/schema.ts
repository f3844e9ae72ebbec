// What the server's JSON Schema of agent configs says of a field: its words, its
// choices, its bounds, its default. The schema is the server's; nothing of it is
// written here a second time.
import { getIn, isList, isObject, type Json, type JsonObject, type Path, sameJson } from "./json";

/** What kind of value a field takes, as a form shows it. */
export type FieldKind = "choice" | "flag" | "number" | "text" | "other";

/** What a form has to know of one field. */
export interface FieldShape {
  readonly kind: FieldKind;
  readonly description?: string;
  readonly choices: readonly string[];
  readonly default?: Json;
  readonly least?: number;
  readonly most?: number;
  readonly whole: boolean;
  /** Texts this long get more than a line. */
  readonly long: boolean;
  readonly required: boolean;
}

/** The part of the schema that a path of the config leads to; `config` chooses between the kinds of tools. */
export function schemaAt(schema: JsonObject, config: Json, path: Path): JsonObject | undefined {
  let at: Json | undefined = schema;
  let value: Json | undefined = config;
  for (const step of path) {
    if (!isObject(at)) return undefined;
    if (typeof step === "number") at = at.items;
    else at = chosen(at, step, value) ?? getIn(at, ["properties", step]) ?? at.additionalProperties;
    value = getIn(value, [step]);
  }
  return isObject(at) ? at : undefined;
}

// execution has the shape that executionType names: a rule of the tool says which.
function chosen(at: JsonObject, field: string, value: Json | undefined): Json | undefined {
  if (field !== "execution" || !isList(at.allOf)) return undefined;
  const type = getIn(value, ["executionType"]) ?? "basic";
  for (const rule of at.allOf) {
    const is = getIn(rule, ["if", "properties", "executionType"]);
    const fits = getIn(is, ["const"]) === type || (isList(getIn(is, ["enum"])) && (getIn(is, ["enum"]) as readonly Json[]).includes(type));
    const then = getIn(rule, ["then", "properties", "execution"]);
    if (fits && then !== undefined) return then;
  }
  return undefined;
}

/** The shape of the field at a path. */
export function shapeAt(schema: JsonObject, config: Json, path: Path): FieldShape {
  const node = schemaAt(schema, config, path) ?? {};
  const outer = schemaAt(schema, config, path.slice(0, -1));
  const last = path[path.length - 1];
  const types = typesOf(node);
  const choices = isList(node.enum) ? node.enum.filter((c): c is string => typeof c === "string") : [];
  const number = (name: string) => (typeof node[name] === "number" ? node[name] : undefined);
  return {
    kind: choices.length > 0 ? "choice" : kindOf(types),
    description: typeof node.description === "string" && node.description !== "" ? node.description : undefined,
    choices,
    default: node.default,
    least: number("minimum"),
    most: number("maximum"),
    whole: types.includes("integer"),
    long: (number("maxLength") ?? 0) >= 2000 && node.pattern === undefined,
    required: isList(outer?.required) && last !== undefined && outer.required.includes(last),
  };
}

function typesOf(node: JsonObject): readonly string[] {
  const types = isList(node.type) ? node.type : [node.type ?? ""];
  return types.filter((t): t is string => typeof t === "string" && t !== "null");
}

function kindOf(types: readonly string[]): FieldKind {
  if (types.length !== 1) return "other";
  return ({ boolean: "flag", integer: "number", number: "number", string: "text" } as const)[types[0] ?? ""] ?? "other";
}

/** The names of the fields that an object of the schema has. */
export function fieldsAt(schema: JsonObject, config: Json, path: Path): readonly string[] {
  const properties = schemaAt(schema, config, path)?.properties;
  return isObject(properties) ? Object.keys(properties) : [];
}

/**
 * The config with every default written out and what has no order sorted, as the
 * server keeps it: two configs that say the same give the same.
 */
export function withDefaults(schema: JsonObject, config: JsonObject): JsonObject {
  return ordered(fill(schema, config, config, []) as JsonObject, true);
}

function fill(schema: JsonObject, config: Json, value: Json, path: Path): Json {
  if (isList(value)) return value.map((item, i) => fill(schema, config, item, [...path, i]));
  if (!isObject(value)) return value;
  const node = schemaAt(schema, config, path);
  const properties = node === undefined || !isObject(node.properties) || isFree(node) ? {} : node.properties;
  const out: Record<string, Json> = {};
  for (const name of new Set([...Object.keys(value), ...Object.keys(properties)])) {
    const at = [...path, name];
    const own = Object.hasOwn(value, name) ? value[name] : undefined;
    const filled = own ?? (isObject(properties) ? schemaAt(schema, config, at)?.default : undefined) ?? (name === "execution" && path[0] === "tools" && path.length === 2 ? {} : undefined);
    if (filled !== undefined && filled !== null) out[name] = isFree(schemaAt(schema, config, at)) ? filled : fill(schema, config, filled, at);
  }
  return out;
}

// A value that is the author's own: a schema of a tool, what a vendor is sent.
function isFree(node: JsonObject | undefined): boolean {
  return node === undefined || (node.anyOf !== undefined && typesOf(node).includes("object")) || isObject(node.additionalProperties);
}

/** The config without what the server would fill in anyway. */
export function withoutDefaults(schema: JsonObject, config: JsonObject): JsonObject {
  return ordered(thin(schema, config, config, []) as JsonObject);
}

function thin(schema: JsonObject, config: Json, value: Json, path: Path): Json {
  if (isList(value)) return value.map((item, i) => thin(schema, config, item, [...path, i]));
  if (!isObject(value) || isFree(schemaAt(schema, config, path))) return value;
  const out: Record<string, Json> = {};
  for (const [name, field] of Object.entries(value)) {
    const at = [...path, name];
    const node = schemaAt(schema, config, at);
    const thinned = thin(schema, config, field, at);
    const empty = isObject(thinned) && Object.keys(thinned).length === 0 && node !== undefined && (isObject(node.default) || name === "execution");
    if (field !== null && !empty && !(node?.default !== undefined && sameJson(node.default, thinned))) out[name] = thinned;
  }
  return out;
}

// The order in which a reader looks for them.
const order = [
  ...["version", "agent", "model", "loop", "context", "tools", "mcp", "reply", "access", "invite", "budget"],
  ...["provider", "id", "name", "description", "system", "instructions"],
  ...["url", "method", "mode", "baseURL", "api", "temperature", "maxOutputTokens", "reasoning", "providerOptions"],
  ...["enabled", "effort", "maxSteps", "history", "conversation", "reduction", "strategy"],
  ...["executionType", "execution", "displayTool", "display", "targeted", "requiresPermission", "answer", "expiresInMs", "idempotent", "inputSchema", "outputSchema"],
];
const rank = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
// Below these the names are the author's, and so is their order.
const free = ["inputSchema", "outputSchema", "headers", "queryParams", "body", "output", "providerOptions"];

/** The same config with its fields in the order in which people read them; `all`: the author's own by their names. */
export function ordered(config: JsonObject, all = false): JsonObject {
  const sort = (value: Json): Json => {
    if (isList(value)) return value.map(sort);
    if (!isObject(value)) return value;
    const names = Object.keys(value).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
    return Object.fromEntries(names.map((n) => [n, free.includes(n) ? own(value[n] ?? null) : n === "by" ? ids(value[n] ?? null) : sort(value[n] ?? null)]));
  };
  const own = (value: Json): Json => (all ? byName(value) : value);
  const ids = (value: Json): Json => (all && isList(value) ? [...value].sort() : value);
  return sort(config) as JsonObject;
}

function byName(value: Json): Json {
  if (isList(value)) return value.map(byName);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.keys(value).sort().map((n) => [n, byName(value[n] ?? null)]));
}
