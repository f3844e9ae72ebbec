// A server with two trivial tools on the MCP SDK for TypeScript, over streamable HTTP with
// MCP sessions and JSON responses. Its log is a file; entries that arrive meanwhile are
// synced together.
//
//	node server.mjs HOST:PORT FILE
import { randomUUID } from 'node:crypto';
import { fdatasync, openSync, write } from 'node:fs';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const [, , address, path] = process.argv;
const [host, port] = address.split(':');

const log = openSync(path, 'a');
const writeAll = promisify(write);
const sync = promisify(fdatasync);
let group = [];
let writing = false;

// append stores a text and resolves when it is durable.
function append(text) {
  return new Promise((resolve, reject) => {
    group.push({ text, resolve, reject });
    if (!writing) commit();
  });
}

async function commit() {
  writing = true;
  while (group.length > 0) {
    const entries = group;
    group = [];
    try {
      await writeAll(log, Buffer.from(entries.map((e) => e.text).join('\n') + '\n'));
      await sync(log);
      entries.forEach((e) => e.resolve());
    } catch (err) {
      entries.forEach((e) => e.reject(err));
    }
  }
  writing = false;
}

// boxes contains the undelivered texts, or the waiters, of each id.
const boxes = new Map();

function box(id) {
  if (!boxes.has(id)) boxes.set(id, { texts: [], waiters: [] });
  return boxes.get(id);
}

function put(id, text) {
  const { texts, waiters } = box(id);
  const waiter = waiters.shift();
  if (waiter) waiter(text);
  else texts.push(text);
}

function take(id) {
  const { texts, waiters } = box(id);
  return texts.length > 0 ? Promise.resolve(texts.shift()) : new Promise((resolve) => waiters.push(resolve));
}

const textResult = (text) => ({ content: [{ type: 'text', text }] });

function server() {
  const s = new McpServer({ name: 'bare', version: '1' });
  const send = { description: 'Send a message', inputSchema: { to: z.string(), content: z.string() } };
  s.registerTool('send_message', send, async ({ to, content }) => {
    await append(content);
    if (to !== '') put(to, content);
    return textResult('sent');
  });
  const wait = { description: 'Wait for a message', inputSchema: { id: z.string() } };
  s.registerTool('wait_for_mentions', wait, async ({ id }) => textResult(await take(id)));
  return s;
}

const sessions = new Map();

// session returns the transport of a request's MCP session, or of a new one.
async function session(req) {
  const known = sessions.get(req.headers['mcp-session-id']);
  if (known) return known;
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  await server().connect(transport);
  return transport;
}

createServer(async (req, res) => {
  if (req.url !== '/mcp') {
    res.end();
    return;
  }
  await (await session(req)).handleRequest(req, res);
}).listen(Number(port), host);
