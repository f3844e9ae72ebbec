// Who a text mentions. The server never parses text: the console reads `@name` and
// `@id` of members out of it, shows whom it has understood, and sends their ids.
import type { Member } from "@shoal-dev/client";

/** One mention in a text. */
export interface Mentioned {
  readonly member: Member;
  /** From the `@` to the character after the name, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

const word = /[\p{L}\p{N}_]/u;
// An address such as ann@example.com mentions nobody.
const joins = /[\p{L}\p{N}_.@/-]/u;

/**
 * The mentions of a text, in its order. A name counts whole only: `@ann` is not in
 * `@anna`, and the longest name that fits wins. Case does not matter. A name that
 * several members bear mentions none of them; their ids do.
 */
export function mentionsIn(text: string, members: readonly Member[]): Mentioned[] {
  const names = callNames(members);
  const lower = text.toLowerCase();
  const found: Mentioned[] = [];
  for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1)) {
    if (at > 0 && joins.test(text[at - 1] ?? "")) continue;
    const hit = names.find(([name]) => lower.startsWith(name, at + 1) && !goesOn(text, at + 1 + name.length));
    if (hit !== undefined) found.push({ member: hit[1], start: at, end: at + 1 + hit[0].length });
  }
  return found;
}

/** What follows each "@" of a text, as one word and as two, for the last few of them. */
export function calledIn(text: string): string[] {
  const called = [...text.matchAll(/(?<![\p{L}\p{N}_.@/-])@([\p{L}\p{N}_][\p{L}\p{N}_.-]*)( [\p{L}\p{N}_.-]+)?/gu)].slice(-4);
  return [...new Set(called.flatMap(([, first = "", second = ""]) => (second === "" ? [first] : [first, first + second])).map((q) => q.replace(/[.-]+$/, "")))];
}

/** The ids of the members that a text mentions, each once, in its order. */
export function mentionedIds(text: string, members: readonly Member[]): string[] {
  return [...new Set(mentionsIn(text, members).map((m) => m.member.entityId))];
}

/** What to write to mention a member: `@Name`, or `@id` where the name is not theirs alone. */
export function writtenMention(member: Member, members: readonly Member[]): string {
  const alone = callNames(members).some(([name, who]) => name === member.name.toLowerCase() && who.entityId === member.entityId);
  return `@${alone ? member.name : member.entityId}`;
}

const called = new WeakMap<readonly Member[], [string, Member][]>();

// Everything that members can be called by, the longest first. It is asked for with every key.
function callNames(members: readonly Member[]): [string, Member][] {
  let names = called.get(members);
  if (names === undefined) called.set(members, (names = sortedNames(members)));
  return names;
}

function sortedNames(members: readonly Member[]): [string, Member][] {
  const byName = new Map<string, Member | undefined>();
  for (const m of members) {
    const name = m.name.toLowerCase();
    if (name !== "") byName.set(name, byName.has(name) ? undefined : m);
  }
  // An id is its bearer's alone, whatever others are named.
  for (const m of members) byName.set(m.entityId.toLowerCase(), m);
  return [...byName].filter((entry): entry is [string, Member] => entry[1] !== undefined).sort((a, b) => b[0].length - a[0].length);
}

// Whether a word goes on at `end`. Dots and hyphens belong to ids, but end a
// sentence as well: they join only if a letter follows.
function goesOn(text: string, end: number): boolean {
  const next = text[end] ?? "";
  if (word.test(next)) return true;
  return (next === "." || next === "-") && word.test(text[end + 1] ?? "");
}

/** The beginning of a mention that is being written at the caret. */
export interface Begun {
  readonly start: number;
  /** What stands between the `@` and the caret. */
  readonly query: string;
}

/** The mention that somebody is writing at the caret, if any. */
export function begunAt(text: string, caret: number): Begun | undefined {
  const before = text.slice(0, caret);
  const start = before.lastIndexOf("@");
  if (start < 0 || (start > 0 && joins.test(before[start - 1] ?? ""))) return undefined;
  const query = before.slice(start + 1);
  return /^[\p{L}\p{N}_.-]*( [\p{L}\p{N}_.-]*)?$/u.test(query) && query.length <= 40 ? { start, query } : undefined;
}

/** The members that a query may mean, the best first, at most `most`. Agents come before people. */
export function candidates(query: string, members: readonly Member[], self: string | null, most = 8): Member[] {
  const q = query.toLowerCase();
  const score = (m: Member): number => {
    const name = m.name.toLowerCase();
    const id = m.entityId.toLowerCase();
    if (name.startsWith(q) || id.startsWith(q)) return 0;
    if (name.split(/[\s_.-]+/).some((w) => w.startsWith(q))) return 1;
    return q !== "" && (name.includes(q) || id.includes(q)) ? 2 : 3;
  };
  return members
    .filter((m) => m.entityId !== self && score(m) < 3)
    .sort((a, b) => score(a) - score(b) || kindOrder(a) - kindOrder(b) || a.name.localeCompare(b.name))
    .slice(0, most);
}

const kindOrder = (m: Member): number => (m.kind === "agent" ? 0 : 1);
