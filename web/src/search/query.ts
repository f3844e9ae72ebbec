// What somebody typed into the search box: words, and filters such as in:launch,
// kind:agent, from:ann, from:"Ann Lind".

/** A search as it was meant. */
export interface Query {
  /** The words alone. */
  readonly words: string;
  /** A space by id or name. */
  readonly in: string | undefined;
  /** What its sender is. */
  readonly kind: "human" | "agent" | undefined;
  /** Its sender by id or name. */
  readonly from: string | undefined;
  /** Filters that mean nothing, as they were typed. */
  readonly unknown: readonly string[];
}

const token = /(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/gi;

/** Reads what was typed. A filter that is given twice counts as the last one. */
export function parseQuery(typed: string): Query {
  const words: string[] = [];
  const unknown: string[] = [];
  const found: { in?: string; from?: string; kind?: "human" | "agent" } = {};
  for (const match of typed.matchAll(token)) {
    const [whole, name, quoted, bare] = match;
    const value = quoted ?? bare ?? "";
    switch (name?.toLowerCase()) {
      case "in":
      case "from":
        if (value !== "") found[name.toLowerCase() as "in" | "from"] = value.replace(/^[@#]/, "");
        break;
      case "kind":
        if (value === "human" || value === "agent") found.kind = value;
        else unknown.push(whole);
        break;
      default:
        // A word with a colon in it, such as a time or an address, is a word.
        words.push(name === undefined ? value : whole.replaceAll('"', ""));
    }
  }
  return { words: words.join(" "), in: found.in, from: found.from, kind: found.kind, unknown };
}

/** The one whose id or name is meant: ids first, names without regard to case. */
export function named<T extends { readonly id: string; readonly name: string }>(all: readonly T[], asked: string): T | undefined {
  const small = asked.toLowerCase();
  return all.find((t) => t.id === asked) ?? all.find((t) => t.name.toLowerCase() === small) ?? all.find((t) => t.name.toLowerCase().startsWith(small));
}
