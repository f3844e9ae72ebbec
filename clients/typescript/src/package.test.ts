// What is published: its size, its files, its version.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { expect, it } from "vitest";
import { apiVersion, version } from "./version.js";

const root = join(import.meta.dirname, "..");
const limit = 12 * 1024;

interface Package {
  readonly version: string;
  readonly dependencies?: object;
}
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Package;

/** The gzip size of what a program has that imports these names. */
async function sizeOf(names: string): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), "shoal-client-"));
  const input = join(dir, "entry.ts");
  writeFileSync(input, `export ${names} from ${JSON.stringify(join(root, "src/index.ts"))};`);
  const built = await build({
    root: dir,
    configFile: false,
    logLevel: "silent",
    build: { write: false, minify: true, target: "es2022", modulePreload: false, rolldownOptions: { input, preserveEntrySignatures: "strict" } },
  });
  rmSync(dir, { recursive: true });
  const [bundle] = Array.isArray(built) ? built : [built];
  if (bundle === undefined || !("output" in bundle)) throw new Error("nothing was built");
  const code = bundle.output.map((o) => (o.type === "chunk" ? o.code : "")).join("");
  expect(code).toContain("Last-Event-ID");
  return gzipSync(code, { level: 9 }).length;
}

it("has at most 12 KB gzip with everything, and less without what a program does not import", async () => {
  const whole = await sizeOf("*");
  const calls = await sizeOf("{ Shoal }");
  console.log(`everything ${whole} bytes, Shoal alone ${calls} bytes gzip`);
  expect(whole).toBeLessThanOrEqual(limit);
  expect(calls).toBeLessThan(whole - 2000);
}, 30_000);

it("is published with its built files, its types and its page, and with nothing else", () => {
  execFileSync("npm", ["run", "--silent", "build"], { cwd: root });
  const [packed] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })) as [{ files: { path: string }[] }];
  const files = packed.files.map((f) => f.path);
  expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json", "dist/index.js", "dist/index.d.ts", "dist/schema.d.ts", "dist/serve.js"]));
  expect(files.filter((f) => !/^dist\/[a-z0-9-]+\.(js|d\.ts)$/.test(f) && !["LICENSE", "README.md", "package.json"].includes(f))).toEqual([]);
  expect(files.filter((f) => f.includes("test"))).toEqual([]);
}, 60_000);

it("has no dependencies, and the version of the API", () => {
  const api = JSON.parse(readFileSync(join(root, "../../internal/httpapi/openapi/openapi.json"), "utf8")) as { info: { version: string } };
  expect(manifest.dependencies).toBeUndefined();
  expect(manifest.version).toBe(version);
  expect(apiVersion).toBe(api.info.version);
});

it("has types that are generated from the OpenAPI document", () => {
  const fresh = execFileSync("node_modules/.bin/openapi-typescript", ["../../internal/httpapi/openapi/openapi.json", "--immutable"], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 26 });
  expect(fresh).toBe(readFileSync(join(root, "src/schema.ts"), "utf8"));
}, 60_000);
