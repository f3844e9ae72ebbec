// What somebody has filled in so far, and the JSON that it makes. Values keep their
// types: a number is written exactly as it was typed, however many digits it has.
import { isFields, member } from "../renderers/shape";
import { jsonFault } from "./json-fault";
import type { Ask, ChoiceAsk, NumberAsk, ObjectAsk, TextAsk } from "./schema";

/** The state of one field, of the same form as its Ask. */
export type Draft =
  | { readonly kind: "text"; readonly text: string; readonly none: boolean }
  | { readonly kind: "yes-no"; readonly yes: boolean | undefined; readonly none: boolean }
  | { readonly kind: "choice"; readonly index: number; readonly none: boolean }
  | { readonly kind: "list"; readonly items: readonly Draft[]; readonly none: boolean }
  | { readonly kind: "object"; readonly members: readonly Draft[]; readonly none: boolean };

/** What is wrong, by the path of the field: `` for the whole, `a.b`, `a[0]`, `a["b c"]`. */
export type Faults = ReadonlyMap<string, string>;

/** The empty draft, with what the schema presets. */
export function draftOf(ask: Ask, preset: unknown = ask.preset): Draft {
  const none = ask.nullable && preset === null;
  switch (ask.kind) {
    case "text":
      return { kind: "text", text: typeof preset === "string" ? preset : "", none };
    case "number":
      return { kind: "text", text: typeof preset === "number" ? String(preset) : "", none };
    case "json":
      return { kind: "text", text: preset === undefined || none ? "" : JSON.stringify(preset, null, 2), none };
    case "yes-no":
      return { kind: "yes-no", yes: typeof preset === "boolean" ? preset : undefined, none };
    case "choice":
      return { kind: "choice", index: preset === undefined && ask.options.length === 1 ? 0 : ask.options.findIndex((o) => o.value === preset), none };
    case "list":
      return { kind: "list", items: (Array.isArray(preset) ? preset : []).map((p: unknown) => draftOf(ask.of, p)), none };
    case "object":
      return { kind: "object", members: ask.members.map((m) => draftOf(m.ask, isFields(preset) ? member(preset, m.name) : m.ask.preset)), none };
  }
}

const plainName = /^[A-Za-z0-9_$-]{1,64}$/;

/** The path of a member, written as the server writes it: `a.b`, and `a["b c"]` for other names. */
export const join = (path: string, name: string): string => (!plainName.test(name) ? `${path}[${JSON.stringify(name)}]` : path === "" ? name : `${path}.${name}`);

/** The JSON of a draft, or what is wrong with it. */
export function written(ask: Ask, draft: Draft): { readonly json: string } | { readonly faults: Faults } {
  const faults = new Map<string, string>();
  const json = write(ask, draft, "", true, faults);
  return faults.size > 0 ? { faults } : { json: json ?? "null" };
}

// The JSON of a field; undefined where an optional one is left out.
function write(ask: Ask, draft: Draft, path: string, required: boolean, faults: Map<string, string>): string | undefined {
  if (draft.none) return "null";
  const missing = (what: string): undefined => {
    if (required) faults.set(path, what);
    return undefined;
  };
  if (draft.kind === "text") {
    if (ask.kind === "text") return draft.text === "" && !(required && ask.least === 0 && ask.preset === "") ? missing("Required") : checked(faults, path, textFault(ask, draft.text), JSON.stringify(draft.text));
    const text = draft.text.trim();
    if (text === "") return missing("Required");
    if (ask.kind === "number") return checked(faults, path, numberFault(ask, text), text);
    return checked(faults, path, jsonFault(text), text);
  }
  if (draft.kind === "yes-no") return draft.yes === undefined ? missing("Choose yes or no") : String(draft.yes);
  if (draft.kind === "choice") {
    const chosen = (ask as ChoiceAsk).options[draft.index];
    return chosen === undefined ? missing("Choose one") : JSON.stringify(chosen.value);
  }
  if (draft.kind === "list" && ask.kind === "list") {
    if (draft.items.length === 0 && !required) return undefined;
    if (draft.items.length < ask.least) return missing(`At least ${ask.least} required`);
    return `[${draft.items.map((item, i) => write(ask.of, item, `${path}[${i}]`, true, faults) ?? "null").join(",")}]`;
  }
  return draft.kind === "object" && ask.kind === "object" ? writeObject(ask, draft.members, path, required, faults) : undefined;
}

// An optional object in which nothing is filled in is left out as a whole.
function writeObject(ask: ObjectAsk, members: readonly Draft[], path: string, required: boolean, faults: Map<string, string>): string | undefined {
  if (!required && members.every(isEmpty)) return undefined;
  const out: string[] = [];
  ask.members.forEach((m, i) => {
    const draft = members[i];
    if (draft === undefined) return;
    const json = write(m.ask, draft, join(path, m.name), m.required, faults);
    if (json !== undefined) out.push(`${JSON.stringify(m.name)}:${json}`);
  });
  return `{${out.join(",")}}`;
}

function isEmpty(draft: Draft): boolean {
  if (draft.none) return false;
  switch (draft.kind) {
    case "text":
      return draft.text.trim() === "";
    case "yes-no":
      return draft.yes === undefined;
    case "choice":
      return draft.index < 0;
    case "list":
      return draft.items.length === 0;
    case "object":
      return draft.members.every(isEmpty);
  }
}

function checked(faults: Map<string, string>, path: string, fault: string | undefined, json: string): string | undefined {
  if (fault === undefined) return json;
  faults.set(path, fault);
  return undefined;
}

function textFault(ask: TextAsk, text: string): string | undefined {
  const length = [...text].length;
  if (length < ask.least) return `Needs at least ${ask.least} characters`;
  if (ask.most !== undefined && length > ask.most) return `Has ${length} characters; at most ${ask.most} are allowed`;
  return undefined;
}

const jsonNumber = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

function numberFault(ask: NumberAsk, text: string): string | undefined {
  if (!jsonNumber.test(text)) return "Must be a number, such as 12 or 0.5";
  if (ask.whole && !/^-?\d+$/.test(text)) return "Must be a whole number";
  const value = Number(text);
  if (ask.least !== undefined && value < ask.least) return `Must be at least ${ask.least}`;
  if (ask.most !== undefined && value > ask.most) return `Must be at most ${ask.most}`;
  return undefined;
}
