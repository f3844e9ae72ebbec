// The scopes of keys: what they leave of the role, as words for people.

/** The scopes that are words, with what they allow. */
export const words = {
  read: "Read the spaces that it is in, and wait for messages",
  post: "Post, edit and upload",
  answer: "Answer questions, and allow what agents ask permission for",
  run: "Start, cancel and retry runs",
} as const;

/** The scopes of a choice: without words for everything that the role allows, and of all spaces without `spaces`. */
export function scopesOf(chosen: ReadonlySet<string>, everything: boolean, spaces: readonly string[]): string[] {
  const out: string[] = everything ? [] : Object.keys(words).filter((w) => chosen.has(w));
  if (spaces.length > 0) out.push(`spaces:${[...spaces].sort().join(",")}`);
  return out;
}

/** What scopes leave a key, in one line; empty without scopes. */
export function limits(scopes: readonly string[]): string {
  const list = (prefix: string) => scopes.filter((s) => s.startsWith(prefix)).flatMap((s) => s.slice(prefix.length).split(","));
  const may = scopes.filter((s) => !s.includes(":"));
  const spaces = list("spaces:");
  const tools = list("tools:");
  return [may.length > 0 ? `may only ${may.join(", ")}` : "", spaces.length > 0 ? `only in ${spaces.join(", ")}` : "", tools.length > 0 ? `only the tools ${tools.join(", ")}` : ""].filter((s) => s !== "").join(" · ");
}
