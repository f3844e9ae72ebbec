// Fuzzy matching: all letters must occur in order. A match is better at the start of words
// and in consecutive letters.

/**
 * Scores how well `typed` matches `text`: 0 for no match, else higher is better. Blanks
 * split `typed` into words that match in any order. The empty query matches everything with
 * 1.
 */
export function fit(text: string, typed: string): number {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const small = text.toLowerCase();
  let sum = 1;
  for (const word of words) {
    const one = fitWord(small, word);
    if (one === 0) return 0;
    sum += one;
  }
  return sum;
}

function fitWord(text: string, word: string): number {
  const whole = text.indexOf(word);
  if (whole >= 0) {
    const begins = whole === 0 ? 60 : isStart(text, whole) ? 40 : 20;
    return begins + word.length + (word.length === text.length ? 30 : 0);
  }
  // Matches the letters one after the other. Each gap costs.
  let at = -1;
  let score = 10;
  for (const letter of word) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0) return 0;
    score += isStart(text, next) ? 3 : next === at + 1 ? 1 : -1;
    at = next;
  }
  return Math.max(1, score);
}

function isStart(text: string, at: number): boolean {
  return at === 0 || /[^\p{L}\p{N}]/u.test(text[at - 1] ?? "");
}

/** Returns the matching entries, the best first, at most `most`. Equal scores keep their order. */
export function fitting<T>(all: readonly T[], text: (t: T) => string, typed: string, most: number): { readonly item: T; readonly score: number }[] {
  return all
    .map((item) => ({ item, score: fit(text(item), typed) }))
    .filter((f) => f.score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, most);
}
