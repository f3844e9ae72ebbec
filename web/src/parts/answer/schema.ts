// What a JSON Schema asks for, as the fields of a form. The server judges every
// answer; a form only helps to write it. What has no field of its own is written as
// JSON.
import { isFields, isScalar, member } from "../renderers/shape";
import { label } from "../renderers/words";

interface Asked {
  /** What it is called. */
  readonly title: string;
  readonly about: string;
  /** null is an answer, too. */
  readonly nullable: boolean;
  /** What it is unless somebody says otherwise; undefined for nothing. */
  readonly preset: unknown;
}

export interface TextAsk extends Asked {
  readonly kind: "text";
  readonly format: string;
  readonly long: boolean;
  readonly least: number;
  readonly most: number | undefined;
  readonly pattern: string | undefined;
}
export interface NumberAsk extends Asked {
  readonly kind: "number";
  readonly whole: boolean;
  readonly least: number | undefined;
  readonly most: number | undefined;
}
export interface YesNoAsk extends Asked {
  readonly kind: "yes-no";
}
export interface ChoiceAsk extends Asked {
  readonly kind: "choice";
  readonly options: readonly { readonly value: unknown; readonly words: string }[];
}
export interface ListAsk extends Asked {
  readonly kind: "list";
  readonly of: Ask;
  readonly least: number;
  readonly most: number | undefined;
}
export interface ObjectAsk extends Asked {
  readonly kind: "object";
  readonly members: readonly { readonly name: string; readonly required: boolean; readonly ask: Ask }[];
}
export interface JsonAsk extends Asked {
  readonly kind: "json";
  readonly schema: unknown;
}
/** One field of a form. */
export type Ask = TextAsk | NumberAsk | YesNoAsk | ChoiceAsk | ListAsk | ObjectAsk | JsonAsk;

const deepest = 3;
const mostMembers = 60;
const mostFields = 300;
const mostOptions = 200;
const mostReferences = 20;

/** The field for a schema. */
export function askOf(schema: unknown): Ask {
  const asked = ask(schema, schema, "", 0);
  return size(asked) <= mostFields ? asked : { kind: "json", title: asked.title, about: asked.about, nullable: asked.nullable, preset: asked.preset, schema };
}

// How many fields a form has. Objects in objects multiply: nobody fills in thousands.
const size = (a: Ask): number => (a.kind === "object" ? a.members.reduce((n, m) => n + size(m.ask), 1) : 1);

/** The answer that a few buttons can give: a field of two or some values, alone or as the only member. */
export interface Short {
  /** The member that holds it; undefined for the value itself. */
  readonly name: string | undefined;
  readonly ask: YesNoAsk | ChoiceAsk;
}

const mostButtons = 6;

/** Whether buttons do instead of a form; undefined if not. */
export function shortOf(asked: Ask): Short | undefined {
  const isShort = (a: Ask): a is YesNoAsk | ChoiceAsk => !a.nullable && (a.kind === "yes-no" || (a.kind === "choice" && a.options.length <= mostButtons));
  if (isShort(asked)) return { name: undefined, ask: asked };
  const only = asked.kind === "object" && asked.members.length === 1 ? asked.members[0] : undefined;
  return only !== undefined && only.required && isShort(only.ask) ? { name: only.name, ask: only.ask } : undefined;
}

function ask(given: unknown, root: unknown, name: string, depth: number): Ask {
  const { schema, nullable } = plainOf(given, root);
  const base: Asked = {
    title: text(schema, "title") ?? (name === "" ? "" : label(name)),
    about: text(schema, "description") ?? "",
    nullable,
    preset: isExact(member(schema, "default")) ? member(schema, "default") : undefined,
  };
  const json: JsonAsk = { ...base, kind: "json", schema: given };
  if (!isFields(schema) || combines(schema)) return json;
  const options = optionsOf(schema, root);
  if (options !== undefined) return options.length === 0 || options.length > mostOptions ? json : { ...base, kind: "choice", options };
  switch (typeOf(schema)) {
    case "string":
      return textAsk(base, schema);
    case "number":
    case "integer":
      return { ...base, kind: "number", whole: typeOf(schema) === "integer", least: number(schema, "minimum"), most: number(schema, "maximum") };
    case "boolean":
      return { ...base, kind: "yes-no" };
    case "array":
      return listAsk(base, schema, root, depth) ?? json;
    case "object":
      return objectAsk(base, schema, root, depth) ?? json;
    default:
      return json;
  }
}

function textAsk(base: Asked, schema: unknown): TextAsk {
  const most = number(schema, "maxLength");
  const format = text(schema, "format") ?? "";
  return {
    ...base,
    kind: "text",
    format,
    long: format === "multiline" || format === "textarea" || (most !== undefined && most > 200),
    least: number(schema, "minLength") ?? 0,
    most,
    pattern: text(schema, "pattern"),
  };
}

function listAsk(base: Asked, schema: unknown, root: unknown, depth: number): ListAsk | undefined {
  const items = member(schema, "items");
  if (items === undefined || member(schema, "prefixItems") !== undefined) return undefined;
  const of = ask(items, root, "", depth + 1);
  if (of.kind === "list" || of.kind === "object" || of.kind === "json") return undefined;
  return { ...base, kind: "list", of, least: number(schema, "minItems") ?? 0, most: number(schema, "maxItems") };
}

function objectAsk(base: Asked, schema: unknown, root: unknown, depth: number): ObjectAsk | undefined {
  const properties = member(schema, "properties");
  const named = isFields(properties) ? Object.keys(properties) : [];
  const required = member(schema, "required");
  const needed = new Set(Array.isArray(required) ? required.filter((n) => typeof n === "string") : []);
  if (named.length === 0 || named.length > mostMembers || depth >= deepest || [...needed].some((n) => member(properties, n) === undefined)) return undefined;
  return { ...base, kind: "object", members: named.map((name) => ({ name, required: needed.has(name), ask: ask(member(properties, name), root, name, depth + 1) })) };
}

// The schema without references and without null: `type: [T, "null"]`, or an
// anyOf/oneOf of one thing and null.
function plainOf(given: unknown, root: unknown): { schema: unknown; nullable: boolean } {
  let schema = given;
  let nullable = false;
  for (let i = 0; i < mostReferences; i++) {
    const reference = member(schema, "$ref");
    const either = member(schema, "anyOf") ?? member(schema, "oneOf");
    if (typeof reference === "string") {
      const found = referred(root, reference);
      if (found === undefined) return { schema: undefined, nullable };
      schema = isFields(found) && isFields(schema) ? { ...found, ...without(schema, ["$ref"]) } : found;
    } else if (Array.isArray(either) && either.length === 2 && either.some(isNull)) {
      nullable = true;
      const other: unknown = either.find((s) => !isNull(s));
      schema = isFields(other) && isFields(schema) ? { ...without(schema, ["anyOf", "oneOf"]), ...other } : other;
    } else break;
  }
  const type = member(schema, "type");
  if (Array.isArray(type) && type.includes("null")) return { schema: { ...(schema as object), type: type.filter((t) => t !== "null") }, nullable: true };
  return { schema, nullable: nullable || (isFields(schema) && member(schema, "nullable") === true) };
}

const isNull = (s: unknown): boolean => member(s, "type") === "null" || (isFields(s) && Object.hasOwn(s, "const") && s.const === null);
const without = (o: object, names: string[]): object => Object.fromEntries(Object.entries(o).filter(([k]) => !names.includes(k)));

function referred(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined;
  let at: unknown = root;
  for (const step of reference.slice(1).split("/").slice(1)) {
    at = member(at, decodeURIComponentSafely(step).replaceAll("~1", "/").replaceAll("~0", "~"));
  }
  return at;
}

function decodeURIComponentSafely(s: string): string {
  try {
    return decodeURIComponent(s);
  } catch {
    return s;
  }
}

// Schemas that a form cannot follow.
function combines(schema: unknown): boolean {
  return ["allOf", "not", "if", "dependentSchemas", "dependentRequired", "patternProperties", "propertyNames"].some((k) => member(schema, k) !== undefined);
}

/** Whether a value is what its author wrote: a script rounds whole numbers of many digits. */
export const isExact = (v: unknown): boolean => (typeof v === "number" ? !Number.isInteger(v) || Number.isSafeInteger(v) : typeof v !== "object" || v === null || Object.values(v).every(isExact));
const isOption = (v: unknown): boolean => isScalar(v) && isExact(v);

// The values of an enum, of a const, of a union of consts; undefined for other schemas.
function optionsOf(schema: unknown, root: unknown): { value: unknown; words: string }[] | undefined {
  const values = member(schema, "enum");
  if (Array.isArray(values)) {
    const names = member(schema, "enumNames");
    return values.every(isOption) ? values.map((value, i) => ({ value, words: (Array.isArray(names) && typeof names[i] === "string" ? names[i] : wordsOf(value)) as string })) : [];
  }
  if (isFields(schema) && Object.hasOwn(schema, "const")) return isOption(schema.const) ? [{ value: schema.const, words: text(schema, "title") ?? wordsOf(schema.const) }] : [];
  const union = member(schema, "oneOf") ?? member(schema, "anyOf");
  if (!Array.isArray(union)) return undefined;
  const resolved = union.map((u) => plainOf(u, root).schema);
  if (!resolved.every((u) => isFields(u) && Object.hasOwn(u, "const") && isOption(u.const))) return [];
  return resolved.map((u) => ({ value: member(u, "const"), words: text(u, "title") ?? wordsOf(member(u, "const")) }));
}

/** A single value as the words of a button. */
export const wordsOf = (value: unknown): string => (value === null ? "none" : typeof value === "boolean" ? (value ? "yes" : "no") : String(value));

function typeOf(schema: unknown): unknown {
  const type = member(schema, "type");
  if (Array.isArray(type)) return type.length === 1 ? type[0] : undefined;
  return type ?? (member(schema, "properties") === undefined ? undefined : "object");
}

function text(schema: unknown, name: string): string | undefined {
  const v = member(schema, name);
  return typeof v === "string" && v !== "" ? v : undefined;
}

function number(schema: unknown, name: string): number | undefined {
  const v = member(schema, name);
  return typeof v === "number" ? v : undefined;
}
