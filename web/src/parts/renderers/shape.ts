// Which shape a value has, and so how it is shown: what its author says, else what
// can be inferred from it (nothing that is shown is ever executed).

/** The ways to show a value. */
export type Look = "kv" | "table" | "chart" | "image" | "markdown" | "code" | "diff" | "file" | "json" | "content" | "text" | "nothing";

/** An object of JSON. */
export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (v: unknown): v is Fields => typeof v === "object" && v !== null && !Array.isArray(v);
export const isScalar = (v: unknown): v is string | number | boolean | null => v === null || ["string", "number", "boolean"].includes(typeof v);
/** The own member of an object; undefined for what it inherits. */
export const member = (v: unknown, name: string): unknown => (isFields(v) && Object.hasOwn(v, name) ? v[name] : undefined);
export const textMember = (v: unknown, ...names: string[]): string | undefined => {
  for (const name of names) {
    const found = member(v, name);
    if (typeof found === "string") return found;
  }
  return undefined;
};

/** A sum of money. */
export const isMoney = (v: unknown): v is { amount: number; currency: string } =>
  isFields(v) && Object.keys(v).length === 2 && typeof member(v, "amount") === "number" && /^[A-Z]{3}$/.test(textMember(v, "currency") ?? "");

const mostFields = 60;
const mostColumns = 40;

/** An object whose members are single values. */
export function isFlat(v: unknown): v is Fields {
  if (!isFields(v)) return false;
  const keys = Object.keys(v);
  return keys.length > 0 && keys.length <= mostFields && keys.every((k) => isScalar(v[k]) || isMoney(v[k]));
}

/** An array of objects that make the rows of a table. */
export function isRows(v: unknown): v is readonly Fields[] {
  return Array.isArray(v) && v.length > 0 && v.every(isFlat) && columnsOf(v).length <= mostColumns;
}

/** The columns of rows, in the order in which they first come. */
export function columnsOf(rows: readonly Fields[]): string[] {
  const seen = new Set<string>();
  for (const row of rows) for (const key of Object.keys(row)) seen.add(key);
  return [...seen];
}

const said: Record<string, Look> = { kv: "kv", approval: "kv", table: "table", chart: "chart", image: "image", markdown: "markdown", code: "code", diff: "diff", file: "file", json: "json" };

/** The look that a hint names; undefined for none or an unknown one. */
export function namedLook(hint: unknown): Look | undefined {
  const name = typeof hint === "string" ? hint.toLowerCase() : "";
  return Object.hasOwn(said, name) ? said[name] : undefined;
}

/** What the author of a tool says about showing it: `render`, or `x-shoal.render`. */
export function hintOf(display: unknown): Look | undefined {
  return namedLook(member(display, "render") ?? member(display, "x-shoal.render") ?? member(member(display, "x-shoal"), "render") ?? member(display, "customUI"));
}

/** How a value is shown. A hint that the value does not fit counts as none. */
export function lookOf(value: unknown, hint?: Look): Look {
  const wished = hint ?? namedLook(member(member(value, "x-shoal"), "render"));
  if (wished !== undefined && fits(value, wished)) return wished;
  if (value === null || value === undefined) return "nothing";
  if (isScalar(value)) return "text";
  if (isContent(value)) return "content";
  if (isChart(value)) return "chart";
  if (isRows(value)) return "table";
  if (isFlat(value)) return "kv";
  if (isFields(value) && Object.keys(value).length === 0) return "nothing";
  return "json";
}

const fitting: Partial<Record<Look, (v: unknown) => boolean>> = {
  kv: (v) => isFields(v) && Object.keys(v).length > 0,
  table: (v) => isRows(v) || isRows(rowsOf(v)),
  chart: isChart,
  image: (v) => textMember(v, "url", "src", "data") !== undefined,
  markdown: (v) => typeof v === "string" || textMember(v, "markdown", "text") !== undefined,
  code: (v) => typeof v === "string" || textMember(v, "code", "text") !== undefined,
  diff: (v) => typeof v === "string" || textMember(v, "diff", "patch") !== undefined || (textMember(v, "before") !== undefined && textMember(v, "after") !== undefined),
  file: (v) => textMember(v, "url") !== undefined && textMember(v, "name") !== undefined,
  json: () => true,
};

const fits = (v: unknown, look: Look): boolean => fitting[look]?.(v) ?? false;

/** The rows inside an object that holds little else: {rows: […]}, {items: […]}, {data: […]}. */
export function rowsOf(v: unknown): unknown {
  return isFields(v) ? (member(v, "rows") ?? member(v, "items") ?? member(v, "data")) : v;
}

/** What a tool of MCP answers: a list of texts, pictures and resources. */
export function isContent(v: unknown): boolean {
  const list = Array.isArray(v) ? v : member(v, "content");
  return Array.isArray(list) && list.length > 0 && list.every((c) => ["text", "image", "audio", "resource", "resource_link"].includes(textMember(c, "type") ?? ""));
}

export const chartTypes = ["bar", "line", "area", "pie"] as const;

/** {type, x, y, data}: see chart.ts. */
export function isChart(v: unknown): boolean {
  const data = member(v, "data");
  return (chartTypes as readonly unknown[]).includes(member(v, "type")) && typeof member(v, "x") === "string" && Array.isArray(data) && data.every(isFields);
}
