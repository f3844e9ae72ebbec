// Bounds of what is parsed, and counts that tests read.

/** How many blocks have been drawn, and how many characters split, since the page began. */
export const rendered = { blocks: 0, read: 0 };

const mostGrowing = 16 << 10;
const mostParsed = 64 << 10;
// So many signs in a row that open something nest deeper than any text of people.
// No text can be read as them in two ways: trying all would take for ever.
const nested = /(?:(?:[>[\]*_~`(!|]|[-+]\s|\d{1,9}[.)]\s)\s?){200}/;
const mostBrackets = 600;
const mostSigns = 1500;

/**
 * Whether a block is shown as it is written: it is too long to be parsed, or made of
 * signs that would keep the parser busy for seconds.
 */
export function plainText(text: string, grows: boolean): boolean {
  return text.length > (grows ? mostGrowing : mostParsed) || nested.test(text) || busy(text);
}

function busy(text: string): boolean {
  if (text.length < mostBrackets) return false;
  let brackets = 0;
  let signs = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x5b) brackets++;
    else if (c === 0x2a || c === 0x5f || c === 0x7e || c === 0x60) signs++;
  }
  return brackets > mostBrackets || (signs > mostSigns && signs * 4 > text.length);
}
