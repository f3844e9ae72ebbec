// What somebody typed into the search box. The server reads it; it knows ids only,
// so the names that people give, such as from:"Ann Lind", become ids here.

interface Named {
  readonly id: string;
  readonly name: string;
}

/** A search as the server takes it. */
export interface Query {
  /** What to send, empty while nothing is asked for. */
  readonly q: string;
  /** The first filter that names nobody, or no space, that there is. */
  readonly unknown: { readonly what: "space" | "person"; readonly name: string } | undefined;
}

// A phrase, a filter that names something, or anything else up to the next blank.
const token = /-?"[^"]*"?\*?|(-?)(in|from|mentions):(?:"([^"]*)"?|(\S*))|(-?[a-z]+):(?=\s|$)|\S+/gi;

const incomplete = /^-?(has|kind|before|after):?$/i;

/** Reads what was typed. A filter whose value is not typed yet is left out. */
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

/** The one whose id or name is meant: ids first, names without regard to case. */
export function named<T extends Named>(all: readonly T[], asked: string): T | undefined {
  const small = asked.toLowerCase();
  return all.find((t) => t.id === asked) ?? all.find((t) => t.name.toLowerCase() === small) ?? all.find((t) => t.name.toLowerCase().startsWith(small));
}
