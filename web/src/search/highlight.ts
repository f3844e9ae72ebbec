// Splits the text of a search hit at its matches. The server counts UTF-8 bytes, strings
// count UTF-16 code units.
import { byteLength, byteSlice } from "@shoal-dev/client";

/** A piece of a text. */
export interface Piece {
  readonly text: string;
  /** Whether it matches the query. */
  readonly match: boolean;
}

/** Splits a text at byte ranges. Ranges that overlap or exceed the text are clipped. */
export function pieces(highlight: string, matches: readonly (readonly number[])[]): Piece[] {
  const out: Piece[] = [];
  const end = byteLength(highlight);
  let at = 0;
  const push = (to: number, match: boolean) => {
    if (to > at) out.push({ text: byteSlice(highlight, at, to), match });
    at = Math.max(at, to);
  };
  for (const [from = 0, to = 0] of [...matches].sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0))) {
    push(Math.min(from, end), false);
    push(Math.min(to, end), true);
  }
  push(end, false);
  return out;
}
