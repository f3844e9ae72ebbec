// Markdown in its outermost blocks, so that a text that grows is drawn anew only
// where it grows. The lexer knows what belongs together (loose lists, fences,
// quotes); what it has closed stays closed, so only the end is read again.
import { Lexer, type Token } from "marked";
import { rendered } from "./measure";

/** One outermost block. */
export interface Block {
  /** Its markdown, definitions of links that it refers to included. */
  readonly text: string;
  /** The text of a code block, with its language; undefined for other blocks. */
  readonly code?: { readonly text: string; readonly language: string };
}

interface Piece {
  readonly token: Token;
  readonly from: number;
}

// A later line can still change the last two blocks: a number becomes an item of
// the list before it, a line of dashes makes a heading of the paragraph.
const unsettled = 2;
const mostDefinitions = 200;

/** Splits a text that grows; one for each text. */
export class Splitter {
  private text = "";
  private pieces: Piece[] = [];
  private blocks: Block[] = [];

  /** The blocks of the text. A block that has not changed is the same object as before. */
  split(whole: string): readonly Block[] {
    const text = whole.includes("\r") ? whole.replace(/\r\n?/g, "\n") : whole;
    if (text === this.text) return this.blocks;
    const kept = text.startsWith(this.text) ? this.settled() : 0;
    this.pieces.length = kept;
    const last = this.pieces[kept - 1];
    let at = last === undefined ? 0 : last.from + last.token.raw.length;
    for (const token of read(text.slice(at))) {
      this.pieces.push({ token, from: at });
      at += token.raw.length;
    }
    this.text = text;
    this.blocks = this.made();
    return this.blocks;
  }

  // How many pieces stay as they are when more text comes.
  private settled(): number {
    let open = unsettled;
    for (let i = this.pieces.length - 1; i >= 0; i--) {
      if (this.pieces[i]?.token.type === "space") continue;
      open--;
      if (open === 0) return i;
    }
    return 0;
  }

  private made(): Block[] {
    const definitions = this.definitions();
    const blocks: Block[] = [];
    for (const { token } of this.pieces) {
      if (token.type === "space" || token.type === "def") continue;
      const next = blockOf(token, definitions);
      const before = this.blocks[blocks.length];
      blocks.push(before !== undefined && same(before, next) ? before : next);
    }
    return blocks;
  }

  private definitions(): Definition[] {
    const found = new Map<string, Definition>();
    for (const { token } of this.pieces) {
      if (token.type !== "def") continue;
      const label = (token as { tag: string }).tag;
      if (!found.has(label) && found.size < mostDefinitions) found.set(label, { label, raw: token.raw });
    }
    return [...found.values()];
  }
}

// So many quotes or items inside each other would end the lexer's stack.
const nested = /(?:(?:>|[-+*][ \t]|\d{1,9}[.)][ \t])[ \t]{0,3}){100}/;

function read(text: string): Token[] {
  rendered.read += text.length;
  if (!nested.test(text)) {
    try {
      return new Lexer().blockTokens(text, []);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }
  return text.split(/(?<=\n[ \t]*\n)/).map((raw): Token => ({ type: "paragraph", raw, text: raw, tokens: [] }));
}

interface Definition {
  readonly label: string;
  readonly raw: string;
}

function blockOf(token: Token, definitions: readonly Definition[]): Block {
  if (token.type === "code") return { text: token.raw, code: { text: (token as { text: string }).text, language: (token as { lang?: string }).lang ?? "" } };
  if (definitions.length === 0 || !token.raw.includes("[")) return { text: token.raw };
  const lower = token.raw.toLowerCase().replace(/\s+/g, " ");
  const used = definitions.filter((d) => lower.includes(`[${d.label}]`));
  return { text: used.length === 0 ? token.raw : `${token.raw.trimEnd()}\n\n${used.map((d) => d.raw.trim()).join("\n")}` };
}

function same(a: Block, b: Block): boolean {
  return a.text === b.text && a.code?.text === b.code?.text && a.code?.language === b.code?.language;
}
