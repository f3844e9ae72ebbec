// Character references in markdown, as CommonMark 6.2 has them. Of the names those
// that people and models write; any other stays as it was written.
const names: Readonly<Record<string, string>> = {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", reg: "®", trade: "™", hellip: "…", mdash: "—", ndash: "–",
  lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", laquo: "«", raquo: "»", bull: "•", middot: "·", times: "×", divide: "÷", plusmn: "±",
  deg: "°", micro: "µ", para: "¶", sect: "§", euro: "€", pound: "£", yen: "¥", cent: "¢", larr: "←", rarr: "→", uarr: "↑", darr: "↓",
  harr: "↔", ne: "≠", le: "≤", ge: "≥", asymp: "≈", infin: "∞", frac12: "½", frac14: "¼", frac34: "¾", sup2: "²", sup3: "³", check: "✓",
  auml: "ä", ouml: "ö", uuml: "ü", Auml: "Ä", Ouml: "Ö", Uuml: "Ü", szlig: "ß", eacute: "é", egrave: "è", agrave: "à", ccedil: "ç", ntilde: "ñ",
  tab: "\t", lbrace: "{", rbrace: "}", lbrack: "[", rbrack: "]", ast: "*", lowbar: "_", grave: "`", bsol: "\\", sol: "/", num: "#", colon: ":",
};
const reference = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,31}));/g;

/** A text with its character references resolved. */
export function resolved(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(reference, (written: string, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return Object.hasOwn(names, name) ? (names[name] ?? written) : written;
    const point = decimal !== undefined ? Number(decimal) : parseInt(hex ?? "", 16);
    return point === 0 || point > 0x10ffff || (point >= 0xd800 && point < 0xe000) ? "\ufffd" : String.fromCodePoint(point);
  });
}
