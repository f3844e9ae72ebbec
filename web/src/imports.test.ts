// The rules of imports between the source files of the console.
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, it } from "vitest";
import { imported } from "../../clients/typescript/test/imported";

const root = import.meta.dirname;

/** The source files, as paths below `root`. */
const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((e) => e.isFile() && /\.tsx?$/.test(e.name))
  .map((e) => relative(root, join(e.parentPath, e.name)));

/** The specifiers of all imports of a file: static, dynamic and of types alone. */
function specifiers(file: string): string[] {
  return imported(join(root, file));
}

/** The source file that a specifier names; undefined for a package or another kind of file. */
function target(from: string, specifier: string): string | undefined {
  const path = specifier.replace(/\?.*$/, "");
  if (!path.startsWith("@/") && !path.startsWith(".")) return undefined;
  const base = path.startsWith("@/") ? join(root, path.slice(2)) : resolve(root, dirname(from), path);
  const found = [base, `${base}.ts`, `${base}.tsx`].find((p) => /\.tsx?$/.test(p) && existsSync(p));
  return found === undefined ? undefined : relative(root, found);
}

/** The import cycles of a graph, each as the path that leads back to its first file. */
function cycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    const at = path.indexOf(file);
    if (at >= 0) found.push([...path.slice(at), file].join(" -> "));
    if (at >= 0 || done.has(file)) return;
    path.push(file);
    for (const next of graph.get(file) ?? []) visit(next);
    path.pop();
    done.add(file);
  };
  for (const file of graph.keys()) visit(file);
  return found;
}

it("finds a cycle", () => {
  expect(cycles(new Map([["a", ["b", "c"]], ["b", []], ["c", ["d"]], ["d", ["b", "c"]]]))).toEqual(["c -> d -> c"]);
});

it("no files import each other in a cycle", () => {
  const graph = new Map(files.map((file) => [file, specifiers(file).flatMap((s) => target(file, s) ?? [])]));
  expect(graph.get("main.tsx")).toContain("app/router.tsx"); // both kinds of paths resolve
  expect(cycles(graph)).toEqual([]);
});
