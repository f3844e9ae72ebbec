// The rules of imports of the client, the hooks and the console read what their files import.
import { readFileSync } from "node:fs";
import { parseSync } from "vite";

/** The specifiers of all imports of a file, also of types alone, of `export … from` and of `import(…)` with a text. */
export function imported(file: string): string[] {
  const text = readFileSync(file, "utf8");
  const { module, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  return [
    ...module.staticImports.map((i) => i.moduleRequest.value),
    ...module.staticExports.flatMap((e) => e.entries).flatMap((e) => e.moduleRequest?.value ?? []),
    ...module.dynamicImports.flatMap((i) => /^"(.*)"$/.exec(text.slice(i.moduleRequest.start, i.moduleRequest.end))?.[1] ?? []),
  ];
}
