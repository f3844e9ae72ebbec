// The types of hostile.mjs.
import type { Part, PendingAction } from "@/api/shapes";

export interface Payload {
  readonly name: string;
  readonly text: string;
}

export interface Value {
  readonly name: string;
  readonly value: unknown;
}

/** Where the payloads try to go. */
export const canary: string;
/** Every hostile text. */
export const texts: readonly Payload[];
/** Those that are short enough to be a name, a key, an option. */
export const words: readonly Payload[];
/** Hostile values for arguments, results and data. */
export const values: readonly Value[];
/** Hostile JSON Schemas of results. */
export const schemas: readonly Value[];
/** A text in every place of a part in which somebody else's words stand. */
export function everywhere(text: string): Part[];
/** A text in every place of what waits for somebody. */
export function asked(text: string): PendingAction[];
/** What is dangerous in a piece of a page, in words; nothing if it is safe. See hostile.mjs for `around`. */
export function dangers(root: ParentNode, around?: boolean): string[];
