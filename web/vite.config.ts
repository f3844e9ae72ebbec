/// <reference types="vitest/config" />
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { writeServiceWorker } from "./offline.ts";
import { writeSourceSum } from "./sources.ts";

// Test files that replace modules or globals.
const replacing = readdirSync(new URL("./src", import.meta.url), { recursive: true, encoding: "utf8" })
  .filter((file) => /\.test\.tsx?$/.test(file))
  .map((file) => `src/${file}`)
  .filter((file) => /\bvi\.(mock|stub|spyOn)/.test(readFileSync(new URL(file, import.meta.url), "utf8")));

// SHOAL_OUT builds to another place: `make verify` compares it with what is committed.
// SHOAL_URL is the server that `npm run dev` passes calls on to.
export default defineConfig({
  plugins: [react(), tailwind(), writeServiceWorker(), writeSourceSum()],
  resolve: {
    alias: {
      "@": fileURLToPath(new URL("./src", import.meta.url)),
      // From its sources: nothing has to be built before the console.
      "@shoal-dev/client/live": fileURLToPath(new URL("../clients/typescript/src/live.ts", import.meta.url)),
      "@shoal-dev/client/tools": fileURLToPath(new URL("../clients/typescript/src/tools.ts", import.meta.url)),
      "@shoal-dev/client": fileURLToPath(new URL("../clients/typescript/src/index.ts", import.meta.url)),
      "@shoal-dev/react": fileURLToPath(new URL("../clients/react/src/index.ts", import.meta.url)),
    },
    dedupe: ["react"], // also for the hooks of clients/react: a page has one React
  },
  build: {
    outDir: process.env.SHOAL_OUT ?? "../internal/console/dist",
    emptyOutDir: true,
    target: "es2023",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // The router is one file, and so is what the shell and most pages draw with: each file of its own costs some
        // hundred bytes, as it imports the others and is compressed alone.
        codeSplitting: { groups: [{ name: "router", test: /@tanstack.(react-router|router-core|history)/ }, { name: "ui", test: /src.(ui|app).(button|classes|dialog|placeholder|storage|stored)/ }] },
      },
    },
  },
  worker: { format: "es" },
  server: {
    fs: { allow: [".", "../clients/typescript/src", "../clients/react/src"] },
    // The host stays the page's own: the server refuses changes that pages of another origin ask for.
    proxy: Object.fromEntries(["/v1", "/console", "/healthz", "/readyz", "/docs"].map((path) => [path, { target: process.env.SHOAL_URL ?? "http://127.0.0.1:7462", changeOrigin: false }])),
  },
  // A document costs a second for each file: only what is drawn gets one. Loading the modules
  // anew for each file costs more than the tests: only files that replace modules or globals,
  // which others would see, are isolated.
  test: {
    projects: [
      { extends: true, test: { name: "pure", environment: "node", include: ["src/**/*.test.ts"], exclude: replacing, isolate: false } },
      { extends: true, test: { name: "drawn", environment: "jsdom", include: ["src/**/*.test.tsx"], exclude: replacing, isolate: false } },
      { extends: true, test: { name: "replacing", environment: "jsdom", include: replacing } },
    ],
  },
});
