#!/usr/bin/env node
// Starts the program of this platform, which is in an optional dependency, passes
// signals on to it, and ends as it ends.
"use strict";

const { spawn } = require("node:child_process");
const os = require("node:os");

const name = `@shoal-dev/server-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "shoal.exe" : "shoal";

let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(
    `error: the package ${name} is not installed\n` +
      "try: install again without --omit=optional and --no-optional; " +
      "if there is no such package, Shoal is not built for this platform",
  );
  process.exit(1);
}

// `npx @shoal-dev/server` runs the server; installed, `shoal` alone shows the help.
let args = process.argv.slice(2);
if (args.length === 0 && process.env.npm_command === "exec") args = ["serve"];

const child = spawn(program, args, { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`error: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  // A caller shall see the same signal; where it does not end Node, the number says it.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.exitCode = 128 + os.constants.signals[signal];
});
