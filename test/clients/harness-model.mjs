// The models of coding agents that a runner drives, played by aimock. A prompt says what
// the model does: `order: say TEXT` answers with the text, `order: run COMMAND` has the harness run a
// command and answers with what came of it, `order: call TOOL` a tool of the MCP server shoal, and
// `order: answer TEXT` sends the text as the prompt says. `order: forget TEXT` says the text, and sends it
// when it is reminded. The last order of a conversation counts.
//
//   node harness-model.mjs
//
// Out: {"url": "http://127.0.0.1:…"} once. GET /requests?match=TEXT answers with how many requests
// to a model held the text, and GET /most?match=TEXT with how often the one held it that did most.
// The end of the input ends it.

import { LLMock } from '@copilotkit/aimock';
import { namespaced } from './namespace.mjs';

const textOf = ({ content }) =>
  Array.isArray(content) ? content.map((part) => part.text ?? '').join('\n') : String(content ?? '');

/** How each harness calls the tool that runs a command. */
const shells = {
  Bash: (command) => ({ command, description: 'As it was asked' }),
  bash: (command) => ({ command, description: 'As it was asked' }),
  run_shell_command: (command) => ({ command, description: 'As it was asked' }),
  exec_command: (cmd) => ({ cmd, sandbox_permissions: 'require_escalated', justification: 'It writes a file.' }),
  shell_command: (command) => ({ command, sandbox_permissions: 'require_escalated', justification: 'It writes a file.' }),
};

let calls = 0;

/** The orders of a message: of a person, or of what Claude Code appends to the result of a tool while it works. */
const ordersOf = (m) => {
  if (m.role !== 'user' && m.role !== 'tool') return [];
  const text = textOf(m);
  const from = m.role === 'user' ? 0 : text.indexOf('<system-reminder>');
  return from < 0 ? [] : [...text.slice(from).matchAll(/order: (say|run|call|answer|forget) (.+?)(?=<\/message>|$)/gm)];
};

const next = (request) => {
  const { messages } = request;
  const asked = messages.findLastIndex((m) => ordersOf(m).length > 0);
  if (asked < 0) return { content: 'There is nothing to do.' };
  const [, verb, rest] = ordersOf(messages[asked]).at(-1);
  const result = messages.slice(asked + 1).findLast((m) => m.role === 'tool');
  if (verb === 'say') return { content: rest };
  if (result !== undefined) return { content: `It came to this: ${textOf(result)}` };
  const reminder = messages.findLast((m) => m.role === 'user' && textOf(m).includes('you have not answered'));
  if (verb === 'forget' && reminder === undefined) return { content: rest };
  if (verb === 'answer' || verb === 'forget') {
    const how = textOf(reminder ?? messages[asked]).match(/Answer with (\S+): threadId "([^"]+)", replyTo "([^"]+)", mentions \["([^"]+)"\]/);
    if (how === null) return { content: `Nothing says how: ${textOf(messages[asked])}` };
    const [, name, threadId, replyTo, mention] = how;
    return { toolCalls: [{ id: `call_${++calls}`, name, arguments: JSON.stringify({ threadId, replyTo, mentions: [mention], content: rest }) }] };
  }
  const tools = JSON.stringify(request.tools ?? []);
  if (verb === 'call') {
    const server = ['mcp__shoal__', 'mcp_shoal_', 'shoal_'].find((prefix) => tools.includes(`"${prefix}${rest}"`)) ?? 'mcp__shoal__';
    return { toolCalls: [{ id: `call_${++calls}`, name: server + rest, arguments: '{}' }] };
  }
  const name = Object.keys(shells).find((shell) => tools.includes(`"${shell}"`));
  if (name === undefined) return { content: `None of these runs commands: ${tools}` };
  return { content: 'I run it.', toolCalls: [{ id: `call_${++calls}`, name, arguments: JSON.stringify(shells[name](rest)) }] };
};

/** What each request to a model held. */
const requests = [];

const mock = new LLMock({ port: 0, logLevel: 'warn', strict: true, journalMaxEntries: 0 });
mock.addFixture({
  match: { predicate: () => true },
  response: (request) => {
    requests.push(JSON.stringify(request.messages));
    return next(request);
  },
});
await mock.start();

const url = await namespaced(mock.url, (req, res) => {
  const at = new URL(req.url, 'http://localhost');
  if (at.pathname !== '/requests' && at.pathname !== '/most') return false;
  const text = JSON.stringify(at.searchParams.get('match')).slice(1, -1);
  const found = requests.map((r) => r.split(text).length - 1);
  res.end(String(at.pathname === '/most' ? Math.max(0, ...found) : found.filter((n) => n > 0).length));
  return true;
});

process.stdout.write(JSON.stringify({ url }) + '\n');
process.stdin.resume().on('end', () => process.exit(0));
