// How a tool's part is shown: its text, and what is expanded.
import type { PendingAction, ToolPart } from "@shoal-dev/client";
import { decided } from "../answer/votes";
import { hintOf, isFields, type Look, lookOf, member } from "../renderers/shape";
import { label, titleKey } from "../renderers/words";
import { isWork, workTitle } from "./work";

/** What the author of a tool says about showing it. */
export interface DisplayOptions {
  readonly look: Look | undefined;
  readonly hidden: boolean;
  readonly minimal: boolean;
  readonly input: boolean;
  readonly output: boolean;
  /** The name of the custom renderer that draws it, if there is one. */
  readonly renderer: string;
}

/** The options of a part's `display`. */
export function displayOptions(part: ToolPart): DisplayOptions {
  const d = part.display;
  const mode = member(d, "mode");
  const custom = member(d, "customUI");
  return {
    look: hintOf(d),
    hidden: mode === "hidden",
    minimal: mode === "minimal",
    input: member(d, "showInput") !== false,
    output: member(d, "showOutput") !== false,
    renderer: typeof custom === "string" && custom !== "" ? custom : part.toolName,
  };
}

/** Whether the part is a card that is meant to be seen, not a call to be folded away. */
export function isCard(part: ToolPart, custom: boolean): boolean {
  if (custom) return true;
  if (isWork(part)) return false;
  const options = displayOptions(part);
  if (options.minimal || options.hidden) return false;
  return (isFields(part.display) && Object.keys(part.display).length > 0) || rich.has(lookOf(part.result)) || rich.has(lookOf(part.args));
}

const rich = new Set<Look>(["chart", "table", "image", "content"]);

/** Whether a part needs the width of the message. */
export const takesRow = (part: ToolPart): boolean => rich.has(lookOf(part.result)) || rich.has(lookOf(part.args));

/** Whether a card was answered and is folded: what it asked is over, and nothing else has come of it. */
export function isOver(part: ToolPart): boolean {
  return part.status === "done" && part.answeredBy !== null && part.editedArgs === null && !rich.has(lookOf(part.result));
}

/** The longest title that is taken from arguments; a longer one stays among them. */
const longestTitle = 120;

/** The title of a call for people: what a card is about, else the tool's name in words. A permission is always about the tool. */
export function titleOf(part: ToolPart, kind?: PendingAction["kind"]): { readonly text: string; readonly ofArgs: boolean } {
  const work = workTitle(part);
  if (work !== "" && kind !== "permission") return { text: work.length <= longestTitle ? work : `${work.slice(0, longestTitle)}…`, ofArgs: false };
  const titled = kind !== "permission" && isCard(part, false) && lookOf(part.args, displayOptions(part).look) === "kv";
  const key = titled ? titleKey(part.args) : undefined;
  const text = key === undefined ? "" : String(member(part.args, key));
  if (text !== "" && text.length <= longestTitle) return { text, ofArgs: true };
  return { text: part.toolName === "" ? "Tool" : label(part.toolName), ofArgs: false };
}

/** A result that is one yes or no, as a word: "Chosen", "Not chosen". */
export function verdictOf(part: ToolPart): { readonly yes: boolean; readonly word: string } | undefined {
  if (part.status !== "done" || part.answeredBy === null || !isFields(part.result)) return undefined;
  const [name, ...more] = Object.keys(part.result);
  const value = name === undefined ? undefined : member(part.result, name);
  if (name === undefined || more.length > 0 || typeof value !== "boolean") return undefined;
  const word = label(name).slice(0, 40);
  return { yes: value, word: value ? word : `Not ${word.charAt(0).toLowerCase()}${word.slice(1)}` };
}

/** Whether a part that is not a card is expanded initially. */
export function opensItself(part: ToolPart, pending: PendingAction | undefined): boolean {
  return part.status === "error" || part.editedArgs !== null || part.status === "requires_action" || part.status === "denied" || pending?.status === "open";
}

const denial = /^Permission denied(?: by (.+?))?\. The call was not executed\.(?: Reason: (.*))?$/s;
const question = /^(.+?) has not decided and asks: (.*)\nThe call was not executed\. Answer in the space; call again if it is still needed\.$/s;
const sentBack = /^Sent back with a question: (.*)$/s;
const unanswered = "Nobody answered in time.";

// What was decided about a call. Parts from before the field have only the text for the model.
function decisionOf({ status, error, decision }: ToolPart): ToolPart["decision"] {
  if (decision !== null || status !== "denied") return decision;
  return { approved: false, by: null, reason: null, ask: question.exec(error ?? "")?.[2] ?? sentBack.exec(error ?? "")?.[1] ?? null };
}

/** The question with which a denied call was sent back; undefined if it was denied for good. */
export function askedBack(part: ToolPart): string | undefined {
  return part.status === "denied" ? (decisionOf(part)?.ask ?? undefined) : undefined;
}

/**
 * The error of a part for people; "" if there is nothing to add. That of a denied call is the
 * text for the model, which names who answered by id. With `ending` the card itself says how
 * the call ended, and by whom.
 */
export function errorWords(part: ToolPart, nameOf: (entity: string) => string, ending: boolean): string {
  const text = part.error ?? "";
  if (part.status === "canceled") return /^(Error: )?canceled\b/.test(text) ? "" : text;
  if (part.status === "error" && ending && text === `Error: ${unanswered}`) return "";
  if (part.status !== "denied") return text;
  const asked = askedBack(part);
  if (asked !== undefined) return ending ? asked : `${nameOf(question.exec(text)?.[1] ?? "Somebody")} asked: ${asked}`;
  const denied = denial.exec(text);
  if (denied === null) return text;
  const [, by, said] = denied;
  const reason = part.decision?.reason ?? said;
  if (ending) return reason === undefined || reason === unanswered ? "" : reason;
  const what = by === undefined ? "The request was denied." : `${nameOf(by).replace(/^a /, "A ")} denied the request.`;
  return reason === undefined ? what : `${what} Reason: ${reason}`;
}

/** A state as it is known now: what was under way when its message ended never ends by itself. */
export function stateOf(status: ToolPart["status"], over: boolean): ToolPart["status"] {
  return over && (status === "input_streaming" || status === "running") ? "interrupted" : status;
}

/** What the one who answered did. */
export function deed(part: ToolPart, kind: PendingAction["kind"]): string {
  return kind === "permission" ? (decided(decisionOf(part)) ?? "approved") : "answered";
}
