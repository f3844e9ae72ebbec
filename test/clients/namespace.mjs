// A front for aimock that gives the calls of Codex their namespace: Codex puts the tools of a server
// into one, of which aimock knows nothing.
import http from 'node:http';

/** Serves a front on a free port, and returns its URL. Requests that own answers, it answers itself. */
export const namespaced = async (mockURL, own = () => false) => {
  const front = http.createServer((req, res) => {
    if (own(req, res)) return;
    const upstream = http.request(mockURL + req.url, { method: req.method, headers: req.headers }, (from) => {
      res.writeHead(from.statusCode, from.headers);
      let rest = '';
      from.setEncoding('utf8').on('data', (text) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop();
        for (const line of lines) {
          res.write((req.url.startsWith('/v1/responses') ? line.replaceAll('"name":"mcp__shoal__', '"namespace":"mcp__shoal","name":"') : line) + '\n');
        }
      });
      from.on('end', () => res.end(rest));
    });
    upstream.on('error', () => res.destroy());
    req.pipe(upstream);
  });
  await new Promise((ready) => front.listen(0, '127.0.0.1', ready));
  return `http://127.0.0.1:${front.address().port}`;
};
