// JSON as a config holds it: whole numbers of any size stay exactly what they were,
// and a change makes a new value instead of changing the old one. Pure.

export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}
/** The way to a value: names of fields and places in lists. */
export type Path = readonly (string | number)[];

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

const own = (value: JsonObject, name: string): Json | undefined => (Object.hasOwn(value, name) ? value[name] : undefined);

/** The value at a path; undefined if the path does not exist. */
export function getIn(value: Json | undefined, path: Path): Json | undefined {
  let at = value;
  for (const step of path) {
    if (typeof step === "number") at = isList(at) ? at[step] : undefined;
    else at = isObject(at) ? own(at, step) : undefined;
  }
  return at;
}

/**
 * The value with another one at a path; objects on the way are made if they are
 * missing. With undefined the field is taken out, or the item of the list.
 */
export function setIn(value: Json | undefined, path: Path, to: Json | undefined): Json {
  const [step, ...rest] = path;
  if (step === undefined) return to ?? null;
  if (typeof step === "number") {
    const list = isList(value) ? [...value] : [];
    if (rest.length === 0 && to === undefined) list.splice(step, 1);
    else list[step] = setIn(list[step], rest, to);
    return list;
  }
  const object = isObject(value) ? value : {};
  if (rest.length === 0 && to === undefined) {
    const { [step]: _, ...others } = object;
    return others;
  }
  const inner = own(object, step);
  if (to === undefined && inner === undefined) return object;
  return { ...object, [step]: setIn(inner, rest, to) };
}

const plain = /^[A-Za-z0-9_$-]+$/;

/** A path as the server writes it: tools[0].inputSchema.properties["a b"]. */
export function pathText(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (!plain.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

/** The path that a location of an error names; the part before `body.` is the request's. */
export function parseLocation(location: string): Path {
  const inBody = location.replace(/^body(?=\.|\[|$)\.?/, "");
  if (inBody === "config") return []; // the server's name for all of it
  const path: (string | number)[] = [];
  for (const [, quoted, index, name] of inBody.matchAll(/\[("(?:[^"\\]|\\.)*")\]|\[(\d+)\]|\.?([^.[\]]+)/g)) {
    if (quoted !== undefined) path.push(JSON.parse(quoted) as string);
    else if (index !== undefined) path.push(Number(index));
    else if (name !== undefined) path.push(name);
  }
  return path;
}

/** Whether a path is the other one or leads on from it. */
export function within(path: Path, outer: Path): boolean {
  return outer.every((step, i) => path[i] === step);
}

const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Reads JSON; a whole number that a double cannot hold becomes a bigint. Throws a SyntaxError. */
export function readJson(text: string): Json {
  const mark = marker();
  const marked = text.replace(tokens, (token) => (/^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${mark}${token}"` : token));
  try {
    return JSON.parse(marked, (_, value: unknown) => (typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value)) as Json;
  } catch {
    return JSON.parse(text) as Json; // the same error, with positions in the text as written
  }
}

/** Writes JSON; a bigint in all its digits. */
export function writeJson(value: Json, indent = 0): string {
  const mark = marker();
  const text = JSON.stringify(value, (_, v: unknown) => (typeof v === "bigint" ? mark + v.toString() : v), indent);
  return text.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1");
}

const marker = (): string => `bigint-${Math.random().toString(36).slice(2)}:`;

/** Numbers as they are kept here: bigints only where a double would not do. */
export function settleNumbers(value: Json): Json {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (isList(value)) return value.map(settleNumbers);
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, v]) => [name, settleNumbers(v)]));
  return value;
}

/** Whether two values say the same; the order of fields says nothing. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isList(a) && isList(b)) return a.length === b.length && a.every((v, i) => sameJson(v, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((n) => Object.hasOwn(b, n) && sameJson(a[n], b[n]));
}
