// Markdown as React draws it: read by marked, drawn by tokens.tsx.
import { Lexer } from "marked";
import { memo } from "react";
import remend from "remend";
import { drawn } from "./tokens";

/** A block of markdown, which more may be written to. */
export interface Growing {
  readonly text: string;
  readonly grows: boolean;
}

/** Markdown, parsed. What has begun and not ended yet is drawn as if it had, while it grows. */
export const Parsed = memo(function Parsed({ text, grows }: Growing) {
  return drawn(new Lexer({ gfm: true }).lex(grows ? remend(text, { linkMode: "text-only" }) : text));
});
