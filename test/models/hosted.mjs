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

/** The tool results behind the last thing that a person said. */
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

const plays = {
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

const mock = new LLMock({ port: 0, chunkSize: 7, logLevel: 'warn', strict: true, fixtureCountsMaxTestIds: 0 });
for (const [name, response] of Object.entries(plays)) {
  mock.addFixture({ match: { predicate: (req) => req.model === name }, response, latency: name === 'job' ? 2 : 10 });
}
await mock.start();
process.stdout.write(JSON.stringify({ url: mock.url }) + '\n');
process.stdin.resume().on('end', () => process.exit(0));
