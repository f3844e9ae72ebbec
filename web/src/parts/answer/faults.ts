// What the server says is wrong with a result, by the fields of the form.
import type { ShoalError } from "@shoal-dev/client";
import { type Draft, type Faults, join } from "./draft";
import type { Ask } from "./schema";

const step = /^(?:\.([A-Za-z0-9_$-]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\])/;

/**
 * The faults of an answer that was refused, by path; what names no place in the
 * result is kept under the path ``.
 */
export function faultsOf(problem: ShoalError): Faults {
  const faults = new Map<string, string>();
  for (const { location, message } of problem.fields) {
    for (const part of message.replace(/^do(?:es)? not fit the tool's schema:\s*/, "").split("\n")) {
      const found = readLine(part.trim());
      add(faults, found?.path ?? location.replace(/^body\.?/, "").replace(/^(?:result|args)\.?/, ""), found?.why ?? part.trim());
    }
  }
  return faults;
}

/** The faults at the fields that show them. A fault outside the form, or inside a field, is shown at the nearest enclosing field. */
export function shownAt(ask: Ask, draft: Draft, faults: Faults): Faults {
  const fields = new Set<string>();
  addFields(fields, ask, draft, "");
  const shown = new Map<string, string>();
  for (const [path, why] of faults) {
    let at = path;
    while (at !== "" && !fields.has(at)) at = around(at);
    add(shown, at, at === path ? why : `${path.slice(at.length).replace(/^\./, "")}: ${why}`);
  }
  return shown;
}

function add(faults: Map<string, string>, path: string, why: string): void {
  const before = faults.get(path);
  faults.set(path, before === undefined ? why : `${before}; ${why}`);
}

// `result.a["b c"][0]: is missing`
function readLine(line: string): { readonly path: string; readonly why: string } | undefined {
  const head = /^(?:body\.)?(?:result|args)/.exec(line);
  if (head === null) return undefined;
  let rest = line.slice(head[0].length);
  let path = "";
  for (let found = step.exec(rest); found !== null; found = step.exec(rest)) {
    const [all, name, index, quoted] = found;
    path = index !== undefined ? `${path}[${index}]` : join(path, name ?? unquoted(quoted ?? ""));
    rest = rest.slice(all.length);
  }
  const why = /^\s*:\s*(\S.*)$/.exec(rest)?.[1];
  return why === undefined ? undefined : { path, why };
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

// The path without its last step.
const around = (path: string): string => {
  const less = path.replace(/(?:\.?[A-Za-z0-9_$-]+|\[\d+\]|\["(?:[^"\\]|\\.)*"\])$/, "");
  return less === path ? "" : less;
};

function addFields(fields: Set<string>, ask: Ask, draft: Draft, path: string): void {
  fields.add(path);
  if (draft.none) return;
  if (draft.kind === "list" && ask.kind === "list") draft.items.forEach((item, i) => addFields(fields, ask.of, item, `${path}[${i}]`));
  if (draft.kind !== "object" || ask.kind !== "object") return;
  ask.members.forEach((m, i) => {
    const member = draft.members[i];
    if (member !== undefined) addFields(fields, m.ask, member, join(path, m.name));
  });
}
