// Reads the query of the search box. The server knows only ids, so names that people type,
// such as from:"Ann Lind", are replaced by ids.

interface Named {
  readonly id: string;
  readonly name: string;
}

/** A query for the server. */
export interface Query {
  /** The text to send; empty without a query. */
  readonly q: string;
  /** The first filter whose name is unknown. */
  readonly unknown: { readonly what: "space" | "person"; readonly name: string } | undefined;
}

// A phrase, a filter with a name, or anything else up to the next blank.
const token = /-?"[^"]*"?\*?|(-?)(in|from|mentions):(?:"([^"]*)"?|(\S*))|(-?[a-z]+):(?=\s|$)|\S+/gi;

const incomplete = /^-?(has|kind|before|after):?$/i;

/** Reads a query. A filter without a value is left out. */
export function readQuery(typed: string, spaces: readonly Named[], people: readonly Named[]): Query {
  const out: string[] = [];
  let unknown: Query["unknown"];
  for (const match of typed.matchAll(token)) {
    const [whole, not = "", name, quoted, bare, open] = match;
    if (name === undefined) {
      if (open === undefined || !incomplete.test(open)) out.push(whole);
      continue;
    }
    const value = (quoted ?? bare ?? "").replace(/^[@#]/, "");
    const filter = name.toLowerCase();
    if (value === "") continue;
    if (value === "me" && filter !== "in") {
      out.push(whole);
      continue;
    }
    const meant = named(filter === "in" ? spaces : people, value);
    if (meant === undefined) unknown ??= { what: filter === "in" ? "space" : "person", name: value };
    else out.push(`${not}${filter}:${meant.id}`);
  }
  return { q: out.join(" "), unknown };
}

/** Finds an entry by its id, else by the start of its name in any case. */
export function named<T extends Named>(all: readonly T[], asked: string): T | undefined {
  const small = asked.toLowerCase();
  return all.find((t) => t.id === asked) ?? all.find((t) => t.name.toLowerCase() === small) ?? all.find((t) => t.name.toLowerCase().startsWith(small));
}
