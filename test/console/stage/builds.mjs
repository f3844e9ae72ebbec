// Two versions of the console before one server: what a browser sees of an upgrade.
import { existsSync, readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { freePort } from "./server.mjs";

const web = resolve(import.meta.dirname, "../../../web");

/** Builds the console into a folder. Its entry script is another one than that of each other `mark`. */
export async function build(folder, mark) {
  const { build } = await import(createRequire(join(web, "package.json")).resolve("vite"));
  const marks = { name: "mark", transform: (code, id) => (id === join(web, "src/main.tsx") ? `${code}\ndocument.documentElement.dataset.build = ${JSON.stringify(mark)};` : undefined) };
  await build({ root: web, configFile: join(web, "vite.config.ts"), logLevel: "error", build: { outDir: folder }, plugins: [marks] });
}

const types = { css: "text/css", html: "text/html", js: "text/javascript", svg: "image/svg+xml", woff2: "font/woff2" };

/** A server that serves one build itself and passes everything else on to the real one; it may be away. */
export class Front {
  static async before(target, folder) {
    const f = new Front();
    f.target = new URL(target);
    f.folder = folder;
    f.policy = (await fetch(target)).headers.get("content-security-policy");
    f.port = await freePort();
    f.url = `http://127.0.0.1:${f.port}`;
    await f.begin();
    return f;
  }

  async begin() {
    this.server = createServer((req, res) => this.answer(req, res));
    await new Promise((listening) => this.server.listen(this.port, "127.0.0.1", listening));
  }

  /** Stops answering, as a server that is being upgraded. */
  async end() {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }

  answer(req, res) {
    const path = new URL(req.url, this.url).pathname;
    const name = path === "/" || path.startsWith("/s/") ? "index.html" : path.slice(1);
    const file = join(this.folder, name);
    if (/^(assets\/|index\.html$|sw\.js$|favicon\.svg$)/.test(name)) {
      if (!existsSync(file)) return res.writeHead(404).end();
      const lasting = name.startsWith("assets/");
      res.writeHead(200, { "Content-Type": types[name.split(".").pop()], "Content-Security-Policy": this.policy, "Cache-Control": lasting ? "public, max-age=31536000, immutable" : "no-cache" });
      return res.end(readFileSync(file));
    }
    const headers = { ...req.headers, host: this.target.host };
    if (headers.origin === this.url) headers.origin = this.target.origin;
    const out = request({ host: this.target.hostname, port: this.target.port, method: req.method, path: req.url, headers, agent: false }, (answer) => {
      res.writeHead(answer.statusCode, answer.headers);
      answer.pipe(res);
    });
    out.on("error", () => res.destroy());
    res.on("close", () => out.destroy());
    req.pipe(out);
  }
}
