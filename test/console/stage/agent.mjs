// An agent of somebody's own: a program on the official MCP SDK for TypeScript,
// which test/mcp-ts has, in a process beside the test.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../mcp-ts/", import.meta.url));

/** A running program. */
export class Agent {
  /** Runs the text of a module with its key in the environment. */
  static run(text, key) {
    if (!existsSync(`${folder}node_modules`)) throw new Error("test/mcp-ts is not installed; run `make setup`");
    const a = new Agent();
    // A module that comes by the standard input finds its packages from the folder that it is in.
    a.process = spawn(process.execPath, ["--input-type=module", "-"], { cwd: folder, env: { PATH: process.env.PATH, SHOAL_AGENT_KEY: key }, stdio: ["pipe", "ignore", "pipe"] });
    a.said = "";
    a.process.stderr.on("data", (d) => (a.said += d));
    /** The exit code, once it has ended. */
    a.ended = new Promise((resolve) => a.process.once("close", resolve));
    a.process.stdin.end(text);
    return a;
  }

  async stop() {
    this.process.kill();
    await this.ended;
  }
}
