// The models of docs/two-coding-agents.md, played by aimock: Claude Code writes a script, Codex reviews it,
// and Claude Code changes it. Each step follows from the message that the coding agent has read last and from how many
// of its calls have come back since.
//
//   node review-model.mjs
//
// Out: {"url": "http://127.0.0.1:…"} once. The end of the input ends it.

import { LLMock } from '@copilotkit/aimock';
import { namespaced } from './namespace.mjs';

const textOf = ({ content }) =>
  Array.isArray(content) ? content.map((part) => part.text ?? '').join('\n') : String(content ?? '');

let calls = 0;
const call = (name, args) => ({ toolCalls: [{ id: `call_${++calls}`, name, arguments: JSON.stringify(args) }] });
const send = (mention, content) => call('mcp__shoal__send_message', { threadId: 'review', content, mentions: [mention] });
const bash = (command) => call('Bash', { command, description: 'As it was asked' });

const request = 'Please review greet.sh.';
const finding = 'greet.sh greets nobody by name: print the first argument, too.';

/** What each agent does, by the message that it reads last. */
const parts = {
  author: {
    'Write greet.sh, a script': [
      () => bash(`printf 'echo "Hello"\\n' > greet.sh`),
      () => send('reviewer', request),
      () => ({ content: 'greet.sh is written, and the reviewer has it.' }),
    ],
    [finding]: [
      () => bash(`printf 'echo "Hello, $1"\\n' > greet.sh`),
      () => ({ content: 'greet.sh greets by name now.' }),
    ],
  },
  reviewer: {
    [request]: [
      () => call('exec_command', { cmd: 'cat greet.sh' }),
      // What it finds is in what it has read.
      (results) => (/echo "Hello"/.test(results) ? send('author', finding) : { content: `I cannot read it: ${results}` }),
      () => ({ content: 'I have reviewed greet.sh.' }),
    ],
  },
};

const next = ({ messages, tools }) => {
  const part = parts[JSON.stringify(tools ?? []).includes('"Bash"') ? 'author' : 'reviewer'];
  let at = { message: -1, index: -1 };
  messages.forEach((m, message) => {
    if (m.role !== 'user') return;
    for (const said of Object.keys(part)) {
      const index = textOf(m).lastIndexOf(said);
      if (index >= 0 && (message > at.message || index > at.index)) at = { message, index, steps: part[said] };
    }
  });
  if (at.steps === undefined) return { content: 'There is nothing to do.' };
  const results = messages.slice(at.message + 1).filter((m) => m.role === 'tool').map(textOf);
  return at.steps[Math.min(results.length, at.steps.length - 1)](results.join('\n'));
};

const mock = new LLMock({ port: 0, logLevel: 'warn', strict: true, journalMaxEntries: 0 });
mock.addFixture({ match: { predicate: () => true }, response: next });
await mock.start();
process.stdout.write(JSON.stringify({ url: await namespaced(mock.url) }) + '\n');
process.stdin.resume().on('end', () => process.exit(0));
