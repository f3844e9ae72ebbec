// The client has no dependencies. tsconfig.json limits the globals that it can use.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { imported } from "../test/imported.js";

const root = import.meta.dirname;
const sources = readdirSync(root).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !name.endsWith(".d.ts"));

it("imports nothing but its own modules, with the extension that Node and browsers need", () => {
  expect(sources).toContain("follower.ts");
  const foreign = sources.flatMap((file) =>
    imported(join(root, file))
      .filter((name) => !/^\.\/[a-z0-9-]+\.js$/.test(name) || !sources.includes(name.slice(2).replace(/js$/, "ts")))
      .map((name) => `${file} imports ${name}`),
  );
  expect(foreign).toEqual([]);
});
