import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const client = (file: string): string => fileURLToPath(new URL(`../typescript/src/${file}`, import.meta.url));

// The client from its sources: nothing has to be built before the tests.
export default defineConfig({
  resolve: { alias: { "@shoal-dev/client/live": client("live.ts"), "@shoal-dev/client/tools": client("tools.ts"), "@shoal-dev/client": client("index.ts") } },
  test: { environment: "jsdom", include: ["test/*.test.{ts,tsx}"], setupFiles: ["test/setup.ts"], testTimeout: 60_000 },
});
