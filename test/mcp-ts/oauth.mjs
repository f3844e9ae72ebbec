// A program on the official TypeScript SDK that has no key: it signs in with OAuth, as a program that
// describes itself in a document does.
//
//   node oauth.mjs --sdk 1 --url http://127.0.0.1:7462/mcp --document https://…/client.json --port 4711
//
// --sdk   1 (@modelcontextprotocol/sdk) or 2 (@modelcontextprotocol/client)
// --port  where the program receives the browser, on 127.0.0.1
// Out: {"open": "http://…"} with the address for the browser, then, after the browser has come back,
//      {"client": "https://…", "threads": […], "renewed": true}: its client_id, what it sees with its
//      token, and whether the SDK got a new one for a token that did not work any more.

import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: { sdk: { type: 'string' }, url: { type: 'string' }, document: { type: 'string' }, port: { type: 'string' } },
});

const say = (line) => process.stdout.write(JSON.stringify(line) + '\n');

const { Client, Transport } =
  options.sdk === '2'
    ? await import('@modelcontextprotocol/client').then((m) => ({ Client: m.Client, Transport: m.StreamableHTTPClientTransport }))
    : {
        Client: (await import('@modelcontextprotocol/sdk/client/index.js')).Client,
        Transport: (await import('@modelcontextprotocol/sdk/client/streamableHttp.js')).StreamableHTTPClientTransport,
      };

/** What the SDK keeps. */
const provider = {
  redirectUrl: `http://127.0.0.1:${options.port}/callback`,
  clientMetadataUrl: options.document,
  clientMetadata: { client_name: 'not used', redirect_uris: [`http://127.0.0.1:${options.port}/callback`] },
  state: () => 'state-1',
  clientInformation: () => provider.client,
  saveClientInformation: (client) => void (provider.client = client),
  tokens: () => provider.kept,
  saveTokens: (tokens) => void (provider.kept = tokens),
  redirectToAuthorization: (url) => say({ open: url.href }),
  saveCodeVerifier: (verifier) => void (provider.verifier = verifier),
  codeVerifier: () => provider.verifier,
};

const came = new Promise((resolve) => {
  const listener = createServer((request, response) => {
    response.end('You can close this window.');
    listener.close();
    listener.closeIdleConnections();
    resolve(new URL(request.url, provider.redirectUrl).searchParams);
  }).listen(Number(options.port), '127.0.0.1');
  listener.once('error', (error) => say({ failed: String(error) }));
});

/** Connects, and returns the transport and what the program sees. */
async function connect() {
  const client = new Client({ name: 'oauth', version: '1.0.0' });
  const transport = new Transport(new URL(options.url), { authProvider: provider });
  try {
    await client.connect(transport);
    const { structuredContent } = await client.callTool({ name: 'list_threads', arguments: {} });
    return { transport, threads: structuredContent.items.map((t) => t.id) };
  } catch (error) {
    return { transport, error };
  } finally {
    await client.close();
  }
}

const first = await connect();
const back = await came;
await first.transport.finishAuth(options.sdk === '2' ? back : back.get('code'));
const { threads, error } = await connect();
if (error !== undefined) throw error;
const old = provider.kept;
provider.kept = { ...old, access_token: `${old.access_token.slice(0, -3)}xyz` };
const again = await connect();
say({
  client: provider.client.client_id,
  threads,
  renewed: again.error === undefined && provider.kept.refresh_token !== old.refresh_token,
});
