// The real server as a process: started on an empty directory, killed, started
// again on the same port with the same data.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { within } from "./within.mjs";

const binary = process.env.SHOAL_BIN;
if (!binary) throw new Error("SHOAL_BIN is not set; run these tests with `go test ./test/console`");

/** A free port, for servers that must come back on the one they had. */
export const freePort = () =>
  new Promise((resolve, reject) => {
    const s = createServer();
    s.on("error", reject);
    s.listen(0, "127.0.0.1", () => {
      const { port } = s.address();
      s.close(() => resolve(port));
    });
  });

/** A running server. */
export class Server {
  static async start({ env = {}, args = [] } = {}) {
    const s = new Server();
    s.data = mkdtempSync(join(tmpdir(), "shoal-console-"));
    s.port = await freePort();
    s.url = `http://127.0.0.1:${s.port}`;
    s.env = env;
    s.args = args;
    await s.begin();
    return s;
  }

  /** Starts the process, waits until it listens, and makes a link to the console. */
  async begin() {
    this.process = spawn(binary, ["serve", "--addr", `127.0.0.1:${this.port}`, "--data", this.data, ...this.args], {
      env: { PATH: process.env.PATH, HOME: this.data, ...this.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.said = "";
    this.ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.stderr.on("data", (d) => (this.said += d));
    const lines = createInterface({ input: this.process.stdout });
    await new Promise((resolve, reject) => {
      lines.on("line", (line) => {
        this.said += line + "\n";
        if (line.includes(" is up on ")) resolve();
      });
      this.process.once("exit", (code) => reject(new Error(`the server ended with ${code}:\n${this.said}`)));
    });
    this.key = readFileSync(join(this.data, "admin.key"), "utf8").trim();
    this.link = await this.newLink();
  }

  /** Ends it at once, as a power cut would. */
  async kill() {
    this.process.kill("SIGKILL");
    await this.ended;
  }

  /** Ends it and removes its data. */
  async stop() {
    this.process.kill("SIGTERM");
    await within(30_000, "stopping the server", this.ended);
    rmSync(this.data, { recursive: true, force: true });
  }

  /** A call of the REST API as an admin who acts as an entity; the parsed answer. */
  async call(method, path, body, { as, key = this.key, type = "application/json" } = {}) {
    const headers = { Authorization: `Bearer ${key}` };
    if (as) headers["X-Shoal-Entity"] = as;
    if (body !== undefined) headers["Content-Type"] = type;
    const answer = await fetch(`${this.url}/v1${path}`, {
      method,
      headers,
      body: body === undefined || typeof body === "string" ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }

  /** A call inside the session `default`. */
  at(method, path, body, options) {
    return this.call(method, `/sessions/default${path}`, body, options);
  }

  /** A message of an entity. */
  says(as, space, text, more = {}) {
    return this.at("POST", `/spaces/${space}/messages`, { text, ...more }, { as });
  }

  /** A fresh one-time link. */
  async newLink() {
    const answer = await fetch(`${this.url}/console/links`, { method: "POST", headers: { Authorization: `Bearer ${this.key}` } });
    if (answer.status !== 201) throw new Error(`no link: ${answer.status} ${await answer.text()}`);
    return (await answer.json()).url;
  }
}
