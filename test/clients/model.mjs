// The models of Claude Code, Codex and Gemini CLI, played by aimock on free ports of this
// machine. Whatever its person says, each does the same: it waits until it is
// mentioned, answers with send_message, and waits again, until it is thanked. One whose
// person gives it the page docs/setup-for-agents.md does what that page says, word for word.
//
//   node model.mjs
//
// Out: {"url": "http://127.0.0.1:…", "openai": "http://127.0.0.1:…"} once.
// The end of the input ends it.

import { LLMock } from '@copilotkit/aimock';
import { namespaced } from './namespace.mjs';

/** What is answered to what somebody said: [a text, to whom]. Nothing ends the work. */
const answer = (said, sender) => {
  if (said.endsWith('ask codex what 6 times 7 is.')) return ['What is 6 times 7?', 'codex'];
  if (said === 'What is 6 times 7?') return ['Is 6 times 7 really 42?', 'gemini'];
  if (said === 'Is 6 times 7 really 42?') return ['Yes, it is.', sender];
  if (said === 'Yes, it is.') return ['42', 'claude'];
  if (said === '42') return ['Codex says that it is 42.', 'operator'];
};

const textOf = ({ content }) =>
  Array.isArray(content) ? content.map((part) => part.text ?? '').join('\n') : String(content ?? '');

/**
 * What a wait returned, nothing if no message came. Claude Code and Codex show their model the structured
 * result of a tool, with lines of their own around it; Gemini CLI shows the text of it.
 */
const heard = (result) => {
  const text = textOf(result);
  const found = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  if (found.output !== undefined) {
    const last = (pattern) => [...found.output.matchAll(pattern)].at(-1)?.[1];
    const space = last(/<thread id="([^"]+)"/g);
    return space && {
      space, id: last(/<message id="([^"]+)"/g), sender: last(/<sender id="([^"]+)"/g),
      said: last(/<content>([^<]*)</g), cursor: last(/pass ack: "([^"]+)"/g),
    };
  }
  if (found.items.length === 0) return undefined;
  const [{ space, messages }] = found.items;
  const { id, entityId, parts } = messages.at(-1);
  return { space: space.id, id, sender: entityId, said: parts.map((part) => part.text).join(''), cursor: found.cursor };
};

/** The page that somebody has followed; it holds what a later conversation does. */
let page = '';

/** A section of the page: what follows a heading, up to the next one of its level. */
const section = (heading) => {
  const level = heading.match(/^#+/)[0];
  const start = page.indexOf(`\n${heading}`);
  if (start < 0) throw new Error(`the page has no section ${heading}`);
  const rest = page.slice(start + 1 + heading.length);
  const end = rest.search(new RegExp(`\\n#{1,${level.length}} `));
  return end < 0 ? rest : rest.slice(0, end);
};
const blocks = (text, language) => [...text.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map((m) => m[1].trim());

/** The first conversation: the commands of the page, one after another, as long as each succeeds. */
const setUp = (results) => {
  const commands = [...blocks(section('## 1.'), 'sh'), ...blocks(section('### Claude Code'), 'sh')];
  const last = results.length > 0 ? textOf(results.at(-1)) : '';
  if (last.includes('error:')) return { content: `It failed: ${last}` };
  if (results.length === commands.length) return { content: `I have run: ${commands.join('; ')}. Start me anew.` };
  const command = commands[results.length];
  return { toolCalls: [{ id: `call_${results.length}`, name: 'Bash', arguments: JSON.stringify({ command, description: 'As the page says' }) }] };
};

/** The second one: the calls of the page, with what has been heard in the places of its words in capitals. */
const work = (results) => {
  const [wait, send, again] = blocks(section('## 4.'), 'json');
  const call = (tool, args) => ({ toolCalls: [{ id: `call_${results.length}`, name: `mcp__shoal__${tool}`, arguments: args }] });
  if (results.length === 0) return call('wait_for_mentions', wait);
  if (results.length % 2 === 0) return call('wait_for_mentions', again.replace('CURSOR', heard(results.at(-2)).cursor));
  const message = heard(results.at(-1));
  if (message === undefined) throw new Error('nobody has said anything');
  if (message.said === 'Thank you.') return { content: 'My work is done.' };
  return call('send_message', send
    .replace('THREAD', message.space).replace('YOUR ANSWER', 'I am claude.').replace('SENDER', message.sender).replace('MESSAGE', message.id));
};

const next = (request) => {
  const { messages, model } = request;
  const asked = messages.filter((m) => m.role === 'user').map(textOf).join('\n');
  const has = (tool) => JSON.stringify(request.tools ?? []).includes(`"${tool}"`);
  if (asked.includes('# Set yourself up\n') && has('Bash')) {
    page = asked.slice(asked.indexOf('# Set yourself up\n'));
    return setUp(messages.filter((m) => m.role === 'tool'));
  }
  if (asked.includes('Call wait_for_mentions on shoal') && has('mcp__shoal__wait_for_mentions')) {
    return work(messages.filter((m) => m.role === 'tool'));
  }
  const results = messages.filter((m) => m.role === 'tool');
  const server = model.startsWith('gemini') ? 'mcp_shoal_' : 'mcp__shoal__';
  const call = (tool, args) => ({
    toolCalls: [{ id: `call_${results.length}`, name: server + tool, arguments: JSON.stringify(args) }],
  });
  const wait = (more) => call('wait_for_mentions', { timeoutMs: 50_000, ...more });
  if (results.length === 0) return wait();
  const called = messages.findLast((m) => m.tool_calls?.length).tool_calls.at(-1).function.name;
  if (called.endsWith('send_message')) return wait({ ack: heard(results.at(-2)).cursor }); // it is posted: what it answers is handled
  const message = heard(results.at(-1));
  if (message === undefined) return wait();
  const reply = answer(message.said, message.sender);
  if (reply === undefined) return { content: 'My work is done.' };
  const [content, whom] = reply;
  return call('send_message', { threadId: message.space, content, mentions: [whom], idempotencyKey: `to-${message.id}` });
};

const mock = new LLMock({ port: 0, logLevel: 'warn', strict: true, journalMaxEntries: 0 });
mock.addFixture({ match: { predicate: () => true }, response: next });
await mock.start();

const openai = await namespaced(mock.url);

process.stdout.write(JSON.stringify({ url: mock.url, openai: `${openai}/v1` }) + '\n');
process.stdin.resume().on('end', () => process.exit(0));
