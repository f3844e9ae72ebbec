// Characters that a reader does not see: zero-width ones, those that turn the
// direction of a line around, control characters, the Tag block. They can hide
// words from people that a model reads, or show people other words than there are.
// What is stored keeps them; what is shown has a mark in their place.
//
// Those that writing needs stay: joiners inside emoji, Arabic and Indic words, the
// flags of England, Scotland and Wales, direction marks beside letters that run
// from right to left.

/** The replacement for invisible characters. */
export interface Mark {
  /** What is written in their place: U+202E, or what tags spell. */
  readonly label: string;
  /** An explanation, shown as a tooltip. */
  readonly title: string;
}

const invisible =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\ud82f[\udca0-\udca3]|\ud834[\udd73-\udd7a]|[\u{e0000}-\u{e007f}]|[\u{e0100}-\u{e01ef}]/u;
const runs = new RegExp(`(?:${invisible.source})+`, "gu");

const britishFlag = /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/uy;
const joins = /[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\u1800-\u18af\ufe0f]$|\p{Extended_Pictographic}$|[\u{1f3fb}-\u{1f3ff}]$/u;
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;

/** The text in pieces: strings to show as they are, and marks. */
export function pieces(text: string): (string | Mark)[] {
  if (!invisible.test(text)) return [text];
  const out: (string | Mark)[] = [];
  let shown = 0;
  for (const found of text.matchAll(runs)) {
    const hidden = found[0];
    const at = found.index;
    if (at < shown || needed(text, at, hidden)) continue;
    const flag = flagEnd(text, at);
    if (flag > at) {
      if (flag >= at + hidden.length) continue;
      out.push(text.slice(shown, flag), markOf(text.slice(flag, at + hidden.length)));
    } else out.push(text.slice(shown, at), markOf(hidden));
    shown = at + hidden.length;
  }
  out.push(text.slice(shown));
  return out.filter((p) => p !== "");
}

/** The text without what cannot be seen: to compare it, never to show it as whole. */
export function visible(text: string): string {
  return pieces(text)
    .filter((p) => typeof p === "string")
    .join("");
}

// Whether the writing around a single character needs it.
function needed(text: string, at: number, hidden: string): boolean {
  const code = hidden.codePointAt(0) ?? 0;
  if (hidden.length > String.fromCodePoint(code).length) return false;
  const before = text.slice(Math.max(0, at - 2), at);
  if (code === 0x200c || code === 0x200d) return joins.test(before);
  if (code === 0x200e || code === 0x200f || code === 0x061c) return rightToLeft.test(before) || rightToLeft.test(text.slice(at + 1, at + 3));
  return code >= 0xe0100 && /\p{Unified_Ideograph}$/u.test(before);
}

// Where a flag ends whose tags begin at this place; 0 for none.
function flagEnd(text: string, at: number): number {
  britishFlag.lastIndex = at - 2;
  return at >= 2 && britishFlag.test(text) ? britishFlag.lastIndex : 0;
}

const mostSpelled = 200;

function markOf(hidden: string): Mark {
  const codes = [...hidden].map((c) => c.codePointAt(0) ?? 0);
  const spelled = codes
    .filter((c) => c >= 0xe0020 && c < 0xe007f)
    .map((c) => String.fromCharCode(c - 0xe0000))
    .join("");
  if (spelled !== "") return { label: `hidden: ${spelled.slice(0, mostSpelled)}${spelled.length > mostSpelled ? "…" : ""}`, title: "Tag characters: invisible to people, readable by models" };
  const first = codes[0] ?? 0;
  const more = codes.length > 1 ? ` ×${codes.length}` : "";
  return { label: `U+${first.toString(16).toUpperCase().padStart(4, "0")}${more}`, title: meaning(first) };
}

function meaning(code: number): string {
  if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) return "Changes the text direction";
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return "A control character";
  return "An invisible character";
}
