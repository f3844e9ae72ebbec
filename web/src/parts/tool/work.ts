// What a tool call of a coding agent does, read from its arguments: the programs that execute
// remote agents have tools of their own, and show them all with the renderer remote.tool.
import type { ToolPart } from "@shoal-dev/client";
import { diffLines } from "@/ui/diff-lines";
import { type Fields, isFields, member, textMember } from "../renderers/shape";

/** The renderer that the server names for tools of a program. */
export const workRenderer = "remote.tool";

/** Whether a part is a tool call of a program, such as a coding agent. */
export const isWork = (part: ToolPart): boolean => member(part.display, "customUI") === workRenderer;

/** The line with which the program describes the call; empty without one. */
export const workTitle = (part: ToolPart): string => (isWork(part) ? (textMember(part.display, "title") ?? "") : "");

/** A change of a file: two texts, or a patch. */
export type Edit = { readonly path: string } & ({ readonly before: string; readonly after: string } | { readonly diff: string });

const mostEdits = 20;

/** The changes of files that the arguments of a call describe; empty for a call that changes none. */
export function editsOf(args: unknown): readonly Edit[] {
  const path = textMember(args, "file_path", "filePath", "path", "notebook_path") ?? "";
  const changes = member(args, "changes");
  if (Array.isArray(changes)) return changes.slice(0, mostEdits).flatMap(changeOf);
  const edits = member(args, "edits");
  if (Array.isArray(edits)) return edits.slice(0, mostEdits).flatMap((e) => replacement(e, path));
  const one = replacement(args, path);
  if (one.length > 0) return one;
  const content = textMember(args, "content", "new_source");
  return content !== undefined && path !== "" ? [{ path, before: "", after: content }] : [];
}

function replacement(args: unknown, path: string): Edit[] {
  const before = textMember(args, "old_string", "oldString", "oldText", "old_str");
  const after = textMember(args, "new_string", "newString", "newText", "new_str");
  return before !== undefined && after !== undefined ? [{ path, before, after }] : [];
}

// Codex gives a patch of a file that it changes, and the content of one that it adds or deletes.
function changeOf(change: unknown): Edit[] {
  const path = textMember(change, "path") ?? "";
  const diff = textMember(change, "diff");
  if (diff === undefined) return [];
  const kind = member(change, "kind");
  const type = typeof kind === "string" ? kind : textMember(kind, "type");
  if (type === "add") return [{ path, before: "", after: diff }];
  return type === "delete" ? [{ path, before: diff, after: "" }] : [{ path, diff }];
}

/** How many lines the changes add and remove. */
export function countChanges(edits: readonly Edit[]): { readonly added: number; readonly removed: number } {
  let added = 0;
  let removed = 0;
  for (const e of edits) {
    if ("diff" in e) {
      const lines = e.diff.split("\n");
      added += lines.filter((l) => /^\+(?!\+\+ )/.test(l)).length;
      removed += lines.filter((l) => /^-(?!-- )/.test(l)).length;
    } else {
      for (const l of diffLines(e.before, e.after)) {
        if (l.kind === "added") added++;
        if (l.kind === "removed") removed++;
      }
    }
  }
  return { added, removed };
}

/** The command that a call executes, and its other arguments; undefined if it executes none. */
export function commandOf(args: unknown): { readonly command: string; readonly rest: Fields } | undefined {
  if (!isFields(args)) return undefined;
  const { command, ...rest } = args;
  if (typeof command === "string" && command !== "") return { command, rest };
  if (Array.isArray(command) && command.length > 0 && command.every((w) => typeof w === "string")) return { command: command.join(" "), rest };
  return undefined;
}

/** Whether an output is a patch. */
export const isPatch = (output: string): boolean => /^(diff --git .*\n(.*\n){0,4})?--- .*\n\+\+\+ /.test(output);
