// A sum over everything that the console is built from. It is written beside the
// built files, and a test of the repository compares it: assets that are older than
// their sources are noticed without Node.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Plugin } from "vite";

const root = import.meta.dirname;

const client = "../clients/typescript";
const hooks = "../clients/react";

/** The files that make a difference, by path; tests make none. */
function sources(): string[] {
  const all = ["public", "src", `${client}/src`, `${hooks}/src`].flatMap((dir) =>
    readdirSync(join(root, dir), { recursive: true, withFileTypes: true })
      .filter((e) => e.isFile() && !e.name.includes(".test."))
      .map((e) => relative(root, join(e.parentPath, e.name))),
  );
  return [...all, `${client}/package.json`, `${client}/tsconfig.json`, `${hooks}/package.json`, `${hooks}/tsconfig.json`, "index.html", "offline.ts", "package-lock.json", "sources.ts", "tsconfig.json", "vite.config.ts"].sort();
}

/** The sum: SHA-256 over the path and the SHA-256 of each file. */
export function sourceSum(): string {
  const sum = createHash("sha256");
  for (const path of sources()) {
    const file = createHash("sha256").update(readFileSync(join(root, path))).digest("hex");
    sum.update(`${file}  ${path}\n`);
  }
  return sum.digest("hex");
}

/** Writes the sum into the folder that the build writes to. */
export function writeSourceSum(): Plugin {
  return {
    name: "shoal-source-sum",
    apply: "build",
    writeBundle(options) {
      if (options.dir !== undefined && !options.dir.endsWith("worker")) writeFileSync(join(options.dir, "sources.txt"), sourceSum() + "\n");
    },
  };
}
