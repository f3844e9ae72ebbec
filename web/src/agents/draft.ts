// The config that is being changed. The forms and the text show one and the same
// object; a text that cannot be read is kept beside it until it can.
import { createContext, useContext, useMemo, useReducer } from "react";
import type { FieldError } from "@shoal-dev/client";
import { getIn, type Json, type JsonObject, parseLocation, type Path, pathText, sameJson, setIn, within } from "./config/json";
import { ordered, withDefaults } from "./config/schema";
import { tabOf, type Wrong } from "./config/tabs";
import { type Format, readConfig, readValue, type TextProblem, writeValue } from "./config/text";

/** A part of the config that is written as text in a form, as it was typed. */
interface Piece {
  readonly path: Path;
  readonly text: string;
  readonly problem: TextProblem | undefined;
}

/** A draft at one moment. */
export interface DraftState {
  readonly config: JsonObject;
  readonly format: Format;
  /** The whole text as it was typed; null: as the config writes itself. */
  readonly typed: string | null;
  readonly problem: TextProblem | undefined;
  readonly pieces: readonly Piece[];
  /** What the server refused, until it is changed. */
  readonly wrongs: readonly Wrong[];
}

/** What happens to a draft. */
export type DraftAction =
  | { readonly type: "set"; readonly path: Path; readonly value: Json | undefined }
  | { readonly type: "piece"; readonly path: Path; readonly text: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "format"; readonly format: Format }
  | { readonly type: "replace"; readonly config: JsonObject }
  /** Restore the last valid text. */
  | { readonly type: "readable" }
  | { readonly type: "refused"; readonly fields: readonly FieldError[] };

/** A draft of a config, unchanged, in the order in which people read it. */
export function beginDraft(config: JsonObject): DraftState {
  return { config: ordered(config), format: "yaml", typed: null, problem: undefined, pieces: [], wrongs: [] };
}

/** The draft after what happened. */
export function changeDraft(draft: DraftState, action: DraftAction): DraftState {
  switch (action.type) {
    case "set":
      return {
        ...draft,
        config: setIn(draft.config, action.path, action.value) as JsonObject,
        typed: null,
        problem: undefined,
        // Removing an item moves the items after it.
        pieces: without(draft.pieces, action.value === undefined && typeof action.path.at(-1) === "number" ? action.path.slice(0, -1) : action.path),
        wrongs: without(draft.wrongs, action.value === undefined && typeof action.path.at(-1) === "number" ? action.path.slice(0, -1) : action.path),
      };
    case "piece":
      return takePiece(draft, action.path, action.text);
    case "text": {
      const read = readConfig(action.text);
      const kept = { ...draft, typed: action.text, pieces: [], wrongs: "value" in read ? changed(draft, read.value) : draft.wrongs };
      return "value" in read ? { ...kept, config: read.value, problem: undefined } : { ...kept, problem: read.problem };
    }
    case "format":
      return draft.problem === undefined ? { ...draft, format: action.format, typed: null } : draft;
    case "replace":
      return { ...beginDraft(action.config), format: draft.format };
    case "readable":
      return { ...draft, typed: null, problem: undefined, pieces: [] };
    case "refused":
      return { ...draft, wrongs: action.fields.map((f) => ({ path: parseLocation(f.location), message: f.message })) };
  }
}

const without = <T extends { readonly path: Path }>(list: readonly T[], path: Path): readonly T[] => list.filter((p) => !within(p.path, path) && !within(path, p.path));

// A value that was wrong and has not changed is still wrong.
function changed(draft: DraftState, config: JsonObject): readonly Wrong[] {
  return draft.wrongs.filter((w) => sameJson(getIn(draft.config, w.path), getIn(config, w.path)));
}

function takePiece(draft: DraftState, path: Path, text: string): DraftState {
  const read = text.trim() === "" ? { value: undefined } : readValue(text);
  const piece: Piece = { path, text, problem: "problem" in read ? read.problem : undefined };
  const next = "problem" in read ? draft : changeDraft(draft, { type: "set", path, value: read.value });
  return { ...next, pieces: [...without(next.pieces, path), piece] };
}

/** The draft as one text. */
export function textOf(draft: DraftState): string {
  return draft.typed ?? writeValue(draft.config, draft.format);
}

/** Why the draft cannot be saved as it stands: the first text that cannot be read. */
export function unreadable(draft: DraftState): Wrong | undefined {
  if (draft.problem !== undefined) return { path: [], message: draft.problem.message };
  const piece = draft.pieces.find((p) => p.problem !== undefined);
  return piece?.problem === undefined ? undefined : { path: piece.path, message: piece.problem.message };
}

/** What unreadable says, as a sentence with its place. */
export function unreadableSentence(draft: DraftState): string | undefined {
  const found = unreadable(draft);
  if (found === undefined) return undefined;
  const place = found.path.length === 0 ? "The text" : `${pathText(found.path)}, on the tab ${tabOf(found.path)},`;
  return `${place} cannot be read: ${found.message}`;
}

/** The draft with its schema and the ways to change it, for the forms. */
export interface DraftContextValue {
  readonly draft: DraftState;
  readonly schema: JsonObject;
  readonly dispatch: (action: DraftAction) => void;
  readonly disabled: boolean;
}

export const DraftContext = createContext<DraftContextValue | null>(null);

/** The draft that the forms around here change. */
export function useDraftContext(): DraftContextValue {
  const value = useContext(DraftContext);
  if (value === null) throw new Error("a form is used outside of a draft");
  return value;
}

/** Keeps a draft that starts with a config, and reports whether it differs from `saved`. */
export function useDraft(schema: JsonObject, saved: JsonObject): { readonly held: DraftContextValue; readonly isChanged: boolean } {
  const [draft, dispatch] = useReducer(changeDraft, saved, beginDraft);
  const isChanged = useMemo(
    () => unreadable(draft) !== undefined || !sameJson(withDefaults(schema, draft.config), withDefaults(schema, saved)),
    [schema, draft, saved],
  );
  const held = useMemo(() => ({ draft, schema, dispatch, disabled: draft.problem !== undefined }), [draft, schema]);
  return { held, isChanged };
}
