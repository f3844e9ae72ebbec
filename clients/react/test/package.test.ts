// What is published: its files, what it depends on, and how little of it a program gets.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { expect, it } from "vitest";
import { imported } from "../../typescript/test/imported.js";

const root = join(import.meta.dirname, "..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string; dependencies?: object; peerDependencies: object };

it("is published with its built files, their types and its page, and with nothing else", () => {
  execFileSync("npm", ["run", "--silent", "build"], { cwd: root });
  const [packed] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })) as [{ files: { path: string }[] }];
  const files = packed.files.map((f) => f.path);
  expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json", "dist/index.js", "dist/index.d.ts"]));
  expect(files.filter((f) => !/^dist\/[a-z-]+\.(js|d\.ts)$/.test(f) && !["LICENSE", "README.md", "package.json"].includes(f))).toEqual([]);
  const names = files.filter((f) => /\.(js|d\.ts)$/.test(f)).flatMap((f) => imported(join(root, f)));
  expect([...new Set(names.filter((name) => !name.startsWith("./")))].sort()).toEqual(["@shoal-dev/client", "@shoal-dev/client/live", "@shoal-dev/client/tools", "react"]);
}, 600_000);

it("needs React and the client, of its own version, and nothing else", () => {
  const client = JSON.parse(readFileSync(join(root, "../typescript/package.json"), "utf8")) as { version: string };
  expect(manifest.dependencies).toBeUndefined();
  expect(manifest.peerDependencies).toEqual({ "@shoal-dev/client": `^${client.version}`, react: ">=18" });
  expect(manifest.version).toBe(client.version);
});

it("has a page and an example whose programs compile", () => {
  const page = readFileSync(join(root, "../../docs/react.md"), "utf8");
  const [chat, cards] = [...page.matchAll(/```tsx[^\n]*\n(.*?)```/gs)].map(([, code]) => code ?? "");
  const dir = mkdtempSync(join(root, "test/page-"));
  try {
    writeFileSync(join(dir, "chat.tsx"), chat ?? "");
    writeFileSync(join(dir, "cards.tsx"), `import { createRenderers, ShoalProvider, type ToolProps } from "@shoal-dev/react";\nimport type { Shoal } from "@shoal-dev/client";\ndeclare const client: Shoal;\nexport const shown = () => {\n${cards?.replace("<ShoalProvider", "return <ShoalProvider")}};\n`);
    const paths = { "@shoal-dev/client": ["../../../typescript/src/index.ts"], "@shoal-dev/client/live": ["../../../typescript/src/live.ts"], "@shoal-dev/client/tools": ["../../../typescript/src/tools.ts"], "@shoal-dev/react": ["../../src/index.ts"], react: ["../../node_modules/@types/react/index.d.ts"], "react/jsx-runtime": ["../../node_modules/@types/react/jsx-runtime.d.ts"], "react-dom/client": ["../../node_modules/@types/react-dom/client.d.ts"] };
    writeFileSync(join(dir, "tsconfig.json"), JSON.stringify({ extends: "../../tsconfig.json", compilerOptions: { paths, types: ["vite/client"] }, include: ["*.tsx", "../../../../examples/react-shop/src/main.tsx"] }));
    const { stdout } = spawnSync("node_modules/.bin/tsc", ["--noEmit", "-p", dir], { cwd: root, encoding: "utf8" });
    expect(stdout).toBe("");
  } finally {
    rmSync(dir, { recursive: true });
  }
}, 600_000);

it("costs a program only what it imports", async () => {
  const size = async (names: string): Promise<number> => {
    const built = await build({
      root, configFile: false, logLevel: "silent",
      plugins: [{ name: "entry", resolveId: (id) => (id === "entry" ? "\0entry" : undefined), load: (id) => (id === "\0entry" ? `export ${names} from ${JSON.stringify(join(root, "src/index.ts"))};` : undefined) }],
      build: { write: false, minify: true, target: "es2022", modulePreload: false, rolldownOptions: { input: "entry", external: ["react", /^@shoal-dev\/client/], preserveEntrySignatures: "strict" } },
    });
    const [bundle] = Array.isArray(built) ? built : [built];
    if (bundle === undefined || !("output" in bundle)) throw new Error("nothing was built");
    return gzipSync(bundle.output.map((o) => (o.type === "chunk" ? o.code : "")).join(""), { level: 9 }).length;
  };
  const [whole, one] = [await size("*"), await size("{ useMessage, StoreContext }")];
  console.log(`everything ${whole} bytes, one hook ${one} bytes gzip`);
  expect(whole).toBeLessThanOrEqual(4 * 1024);
  expect(one).toBeLessThan(500);
}, 300_000);
