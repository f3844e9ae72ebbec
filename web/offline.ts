// Builds the service worker: /sw.js, with the list of the files that it keeps.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Plugin, type Rolldown, transformWithOxc } from "vite";

const source = join(import.meta.dirname, "src/offline/service-worker.ts");

// What only colours code, and the letters of other scripts: without them a page has plain
// code, and the letters of the system.
function isExtra(file: Rolldown.OutputChunk | Rolldown.OutputAsset): boolean {
  if (file.type === "chunk") return file.moduleIds.every((id) => /\/node_modules\/(shiki|@shikijs)\//.test(id));
  return /\.woff2$/.test(file.fileName) && !/\/inter-latin-wght-/.test(file.fileName);
}

/** Writes sw.js into the folder that the build writes to. */
export function writeServiceWorker(): Plugin {
  return {
    name: "shoal-service-worker",
    apply: "build",
    async writeBundle({ dir }, bundle) {
      const files = Object.values(bundle);
      const entry = files.find((f) => f.type === "chunk" && f.isEntry && f.name === "index")?.fileName;
      if (dir === undefined || entry === undefined) return; // the build of a worker
      const kept = files.filter((f) => f.fileName.startsWith("assets/") && !isExtra(f)).map((f) => `/${f.fileName}`);
      const page = readFileSync(join(dir, "index.html"));
      const version = createHash("sha256").update(page).update(kept.sort().join("\n")).digest("hex").slice(0, 16);
      const build = { version, entry: `/${entry}`, files: ["/", "/favicon.svg", ...kept] };
      const { code } = await transformWithOxc(readFileSync(source, "utf8"), source);
      writeFileSync(join(dir, "sw.js"), `const build = ${JSON.stringify(build)};\n${code}`);
    },
  };
}
