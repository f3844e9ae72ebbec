// The piece of a message that a hit shows, cut where its matches begin and end.
// The server counts bytes of UTF-8; strings here count UTF-16 units.
import { byteLength, byteSlice } from "@/client/utf8";

/** A piece of a highlight. */
export interface Piece {
  readonly text: string;
  /** Whether it is what was searched for. */
  readonly match: boolean;
}

/** Cuts a highlight by its byte ranges; ranges that overlap or lie outside are cut to fit. */
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
