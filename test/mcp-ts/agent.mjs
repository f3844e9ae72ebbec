// An agent on the official TypeScript SDK that a test controls: it connects, reports the
// server, and then makes the calls that it reads as JSON lines.
//
//   node agent.mjs --name scout --sdk 1 --transport http --url http://127.0.0.1:7462/mcp --key KEY
//   node agent.mjs --name scout --sdk 2 --era 2026-07-28 --transport stdio -- shoal mcp
//
// --sdk        1 (@modelcontextprotocol/sdk) or 2 (@modelcontextprotocol/client)
// --transport  http (streamable), sse or stdio
// --era        for SDK 2: session (the default), auto, or the revision to insist on
// --progress   request progress notifications with each call
// The command of the stdio transport follows --; it gets the environment variables whose
// names start with SHOAL_.
//
// In:  {"id": 1, "tool": "send_message", "arguments": {…}}   calls run concurrently
//      {"id": 1, "tool": …, "task": {"ttl": …}, "timeout": …} calls a tool as a task (SDK 1), and limits each request
//      {"id": 2, "cancelTask": "task_…"}                     cancels a task
//      {"id": 2, "cancel": 1}                                cancels call 1
//      {"id": 3, "read": "shoal://me"}                       reads a resource
//      {"id": 4, "subscribe": "shoal://threads/x"}           subscribes to its changes
// Out: {"connected": {…}} or {"failed": {…}} once, then for each line in
//      {"id": 1, "result": {…}} or {"id": 1, "error": {…}}, and in between
//      {"notified": {…}} and {"progress": {…}} for the server's notifications, and {"task": {…}} for
//      each state of a task.
// The client checks each structured result against the tool's output schema. The
// end of the input ends the agent.

import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const { values: options, positionals: command } = parseArgs({
  allowPositionals: true,
  options: {
    name: { type: 'string' },
    sdk: { type: 'string' },
    era: { type: 'string', default: 'session' },
    transport: { type: 'string' },
    url: { type: 'string' },
    key: { type: 'string' },
    progress: { type: 'boolean', default: false },
  },
});

const say = (line) => process.stdout.write(JSON.stringify(line) + '\n');

// errorData returns the class, code and message of an error, with those of its cause.
const errorData = (err) => ({
  name: err.name,
  code: err.code,
  message: err.message,
  cause: err.cause instanceof Error ? errorData(err.cause) : undefined,
});

/** The classes of one SDK major under the same names. */
async function sdk() {
  if (options.sdk === '2') {
    const [main, stdio] = await Promise.all([
      import('@modelcontextprotocol/client'),
      import('@modelcontextprotocol/client/stdio'),
    ]);
    return {
      Client: main.Client,
      Http: main.StreamableHTTPClientTransport,
      Sse: main.SSEClientTransport,
      Stdio: stdio.StdioClientTransport,
    };
  }
  const from = (name) => import(`@modelcontextprotocol/sdk/client/${name}.js`);
  const [index, http, sse, stdio] = await Promise.all(['index', 'streamableHttp', 'sse', 'stdio'].map(from));
  return {
    Client: index.Client,
    Http: http.StreamableHTTPClientTransport,
    Sse: sse.SSEClientTransport,
    Stdio: stdio.StdioClientTransport,
  };
}

function clientOptions() {
  if (options.sdk !== '2') return {};
  const { era } = options;
  return { versionNegotiation: { mode: era === 'session' ? 'legacy' : era === 'auto' ? 'auto' : { pin: era } } };
}

function transport({ Http, Sse, Stdio }) {
  if (options.transport === 'stdio') {
    const shoal = Object.entries(process.env).filter(([name]) => name.startsWith('SHOAL_'));
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...Object.fromEntries(shoal) };
    return new Stdio({ command: command[0], args: command.slice(1), env, stderr: 'inherit' });
  }
  const headers = options.key ? { Authorization: `Bearer ${options.key}` } : {};
  const Transport = options.transport === 'sse' ? Sse : Http;
  return new Transport(new URL(options.url), { requestInit: { headers } });
}

const classes = await sdk();
const client = new classes.Client({ name: options.name, version: '1.0.0' }, clientOptions());
client.fallbackNotificationHandler = async (notification) => say({ notified: notification });
const connection = transport(classes);
try {
  await client.connect(connection);
  const { tools } = await client.listTools(); // from now on the client validates results against the schemas
  say({
    connected: {
      // Only SDK 2 has eras; in SDK 1 the transport stores the revision.
      era: client.getProtocolEra?.() ?? 'legacy',
      protocolVersion: client.getNegotiatedProtocolVersion?.() ?? connection.protocolVersion ?? null,
      sessionId: connection.sessionId ?? null,
      server: client.getServerVersion(),
      instructions: client.getInstructions() ?? null,
      tools: tools.map((tool) => ({ name: tool.name, checked: tool.outputSchema !== undefined })),
    },
  });
} catch (err) {
  say({ failed: errorData(err) });
  process.exit(1);
}

const open = new Map(); // the pending calls, with the way to cancel each

// Subscribing differs between the eras.
const subscribe = (uri) =>
  client.getProtocolEra?.() === 'modern'
    ? client.listen({ resourceSubscriptions: [uri] }).then(() => ({}))
    : client.subscribeResource({ uri });

/** Calls a tool as a task, which the SDK polls, and says each state. */
async function asTask(request, how) {
  for await (const heard of client.experimental.tasks.callToolStream(request, undefined, how)) {
    if (heard.task !== undefined) say({ task: heard.task });
    if (heard.type === 'error') throw heard.error;
    if (heard.type === 'result') return heard.result;
  }
}

async function answer({ id, tool, arguments: args, cancel, read, subscribe: uri, task, timeout, cancelTask }) {
  if (cancelTask !== undefined) return { structuredContent: await client.experimental.tasks.cancelTask(cancelTask) };
  if (cancel !== undefined) {
    open.get(cancel)?.abort('given up');
    return {};
  }
  if (read !== undefined) return client.readResource({ uri: read });
  if (uri !== undefined) return subscribe(uri);
  const giveUp = new AbortController();
  open.set(id, giveUp);
  const request = { name: tool, arguments: args ?? {} };
  const how = { signal: giveUp.signal, timeout: timeout ?? 60_000 };
  if (task !== undefined) return asTask(request, { ...how, task });
  if (options.progress) how.onprogress = (progress) => say({ progress });
  return (options.sdk === '2' ? client.callTool(request, how) : client.callTool(request, undefined, how)).finally(() =>
    open.delete(id),
  );
}

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  answer(order).then(
    (result) => say({ id: order.id, result }),
    (err) => say({ id: order.id, error: errorData(err) }),
  );
}
await client.close();
process.exit(0);
