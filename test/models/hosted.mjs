// The models of hosted agents, played by aimock as server.mjs does it: what a
// config calls the model's name is the play.
//
//   node hosted.mjs
//
// Out: {"url": "http://127.0.0.1:…"} once. The end of the input ends the server.

import { LLMock } from '@copilotkit/aimock';

let calls = 0;
const call = (name, args, id = `call_${++calls}`) => ({ name, id, arguments: JSON.stringify(args) });
const send = (spaceId, text, more = {}) => call('sendSpaceMessage', { spaceId, text, ...more });

/** The tool results after the last message of a person. */
const results = ({ messages }) => {
  const last = messages.findLastIndex((m) => m.role === 'user');
  return messages.slice(last + 1).filter((m) => m.role === 'tool');
};

/** One answer after another: the next one as soon as all calls of those before have results. */
const steps = (...answers) => (req) => {
  let had = results(req).length;
  for (const answer of answers) {
    const made = typeof answer === 'function' ? answer(req) : answer;
    const n = made.toolCalls?.length ?? 0;
    if (had < n || n === 0) return made;
    had -= n;
  }
  return { content: 'Done.' };
};

/** The last job that a person named, and the space that it belongs to. */
const job = ({ messages }) => {
  const said = JSON.stringify(messages.filter((m) => m.role === 'user'));
  const key = said.match(/job-\d+/g).at(-1);
  return { key, space: `w${Number(key.slice(4)) % 4}` };
};
const filler = ', and this takes a while to write down'.repeat(4);

const textOf = ({ content }) => (Array.isArray(content) ? content.map((part) => part.text ?? '').join('') : String(content ?? ''));

/**
 * The instructions for a puppet in the last message: [[{name, args, id?}, …], …], a list of answers
 * with the calls of each. {{N.path}} in args is something of the result of the Nth call.
 */
const puppet = (thought) => (req) => {
  const said = [req.messages.findLast((m) => m.role === 'user'), ...req.messages.filter((m) => m.role === 'system')];
  const orders = said.flatMap((m) => [...textOf(m ?? {}).matchAll(/\[\[.*\]\]/g)]).at(0)?.[0] ?? '[]';
  const had = results(req).map(textOf);
  const of = (_, n, path) => {
    const value = path ? path.split('.').reduce((v, key) => v?.[key], JSON.parse(had[n])) : had[n];
    return JSON.stringify(String(value)).slice(1, -1);
  };
  const answers = JSON.parse(orders.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'));
  return steps(...answers.map((calls, i) => () => ({
    reasoning: thought,
    toolCalls: calls.map(({ name, args = {}, id }, n) => ({
      name, id: id ?? `call_${i}_${n}`, arguments: JSON.stringify(args).replace(/\{\{(\d+)(?:\.([\w.]+))?\}\}/g, of),
    })),
  })), { content: 'These were all instructions.' })(req);
};

const saga = Array.from({ length: 12 }, (_, i) =>
  `${i + 1}. Der Seebär 🐻‍❄️ rief »Ahoi«, <b>"laut"</b> & 長い間\n\tüber die Reling. \\o/ `).join('');

const plays = {
  puppet: puppet(),
  'slow puppet': puppet(),
  'thinking puppet': puppet('I follow instructions: ☂ <b>nothing</b> else.'),
  // The text of readers_test.go: long enough to be cut into many pieces.
  saga: steps(
    { toolCalls: [send('den', saga), call('page', { targetSpaceId: 'den', title: 'Saga', body: saga, mention: '' }, 'call_page')] },
    { content: 'The end.' },
  ),
  // Two rooms, and a thought for each run's own reader.
  rooms: steps(
    { toolCalls: [call('choose', { targetSpaceId: 'den', of: 'rooms' }, 'call_rooms')] },
    {
      reasoning: 'A word for the den ☂, and <b>another</b> for the attic.',
      toolCalls: [send('den', 'Hello, den.'), send('attic', 'Hello, attic.')],
    },
    { content: 'That is all.' },
  ),
  // Something for ann alone.
  whisper: steps(
    {
      toolCalls: [
        send('den', 'Psst, everybody.'),
        call('card', { targetSpaceId: 'den', targetEntityId: 'ann', about: 'the swordfish' }, 'call_card'),
      ],
    },
    { toolCalls: [call('note', { about: 'another swordfish', targetEntityId: 'ann', targetSpaceId: 'den' }, 'call_note')] },
    { content: 'That is all.' },
  ),
  four: () => ({ content: 'Four.' }),
  // What test/e2e's TestKilledRuns expects of each job.
  job: steps(
    (req) => {
      const { key, space } = job(req);
      return { toolCalls: [
        send(space, `${key} begins${filler}.`),
        call('record', { key, step: 'first' }), call('touch', { key, step: 'touch' }),
      ] };
    },
    (req) => {
      const { key, space } = job(req);
      return { toolCalls: [send(space, `${key} asks.`), call('choose', { key, targetSpaceId: space })] };
    },
    (req) => {
      const { key, space } = job(req);
      return { toolCalls: [call('record', { key, step: 'second' }), send(space, `${key} ends${filler}.`)] };
    },
    { content: 'That is all.' },
  ),
  shopping: steps(
    {
      toolCalls: [
        send('shop', 'Here are some laptops: ☂ 😀 — both in stock.'),
        call('showProductCard', { targetSpaceId: 'shop', name: 'MacBook Pro', price: 1299 }, 'call_mac'),
        call('showProductCard', { name: 'Dell XPS 15', price: 1199, targetSpaceId: 'shop' }, 'call_dell'),
        send('shop', 'Want me to add any to your cart?'),
        call('searchInventory', { query: 'laptop', targetSpaceId: 'ops' }, 'call_stock'),
      ],
    },
    { toolCalls: [call('showApprovalForm', { targetSpaceId: 'finance', amount: 1299, description: 'MacBook Pro' }, 'call_budget')] },
    { toolCalls: [send('shop', 'Budget approved by finance!')] },
    { content: 'That is all.' },
  ),
};

/** Milliseconds between two pieces of an answer. */
const pace = { job: 2, puppet: 1, 'thinking puppet': 1, four: 1, 'slow puppet': 8, saga: 10, rooms: 20, whisper: 3 };

const mock = new LLMock({ port: 0, chunkSize: 7, logLevel: 'warn', strict: true, fixtureCountsMaxTestIds: 0 });
for (const [name, response] of Object.entries(plays)) {
  const counted = (req) => ({ usage: { prompt_tokens: 300, completion_tokens: 40 }, ...response(req) });
  mock.addFixture({ match: { predicate: (req) => req.model === name }, response: counted, latency: pace[name] ?? 10 });
}
await mock.start();
process.stdout.write(JSON.stringify({ url: mock.url }) + '\n');
process.stdin.resume().on('end', () => process.exit(0));
