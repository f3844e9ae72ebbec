// A proxy before the server that cuts, stalls or goes away: what a browser meets
// between itself and a server.
import { request } from "node:http";
import { createServer } from "node:http";
import { freePort } from "./server.mjs";

export class Cutter {
  /** A proxy to `target`; `rule(req, chunk, sent)` returns "cut" or "stall" for a chunk of an answer. */
  static async before(target, rule = () => undefined) {
    const c = new Cutter();
    c.rule = rule;
    c.port = await freePort();
    c.url = `http://127.0.0.1:${c.port}`;
    c.cuts = 0;
    c.server = createServer((req, res) => c.pass(new URL(target), req, res));
    await new Promise((resolve) => c.server.listen(c.port, "127.0.0.1", resolve));
    return c;
  }

  pass(target, req, res) {
    // The server must see its own origin, as behind a proxy that keeps the host.
    const headers = { ...req.headers, host: target.host };
    if (headers.origin === this.url) headers.origin = target.origin;
    const out = request({ host: target.hostname, port: target.port, method: req.method, path: req.url, headers, agent: false }, (answer) => {
      res.writeHead(answer.statusCode, answer.headers);
      let sent = 0;
      answer.on("data", (chunk) => {
        const what = this.rule(req, chunk, sent);
        if (what === "stall") return answer.pause();
        if (what === "cut") {
          this.cuts++;
          // Half of the chunk goes out: a cut in mid-frame, perhaps in mid-character.
          res.write(chunk.subarray(0, Math.floor(chunk.length / 2)), () => res.destroy());
          return out.destroy();
        }
        sent += chunk.length;
        res.write(chunk);
      });
      answer.on("end", () => res.end());
      answer.on("error", () => res.destroy());
    });
    out.on("error", () => res.destroy());
    res.on("close", () => out.destroy());
    req.pipe(out);
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
