// The model vendors, played by aimock on a free port of this machine: what
// OpenAI (chat completions and responses), Anthropic and Gemini put on the wire
// when they answer as the plays below say.
//
//   node server.mjs
//
// Out: {"url": "http://127.0.0.1:…"} once. The end of the input ends the server.
//
// A request chooses its play by the last user message that names one: a line
// that is the name of a play, or begins with it and a colon. The header X-AIMock-Context puts an error in its place, by
// the names of `errors`; aimock's own X-AIMock-Chaos-… headers break it in
// aimock's own ways. X-Test-Id tags what the journal keeps of a request.

import { LLMock } from '@copilotkit/aimock';

const grey = 'Grüße aus Kiel: es ist grau ☂, und bis heute Abend fällt noch viel Regen. Nimm bitte einen Schirm mit.';
const thought = 'Kiel lies on the coast, so I should check the wind as well as the rain before I say anything about an umbrella.';

/** A PNG of one dot. */
const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const call = (name, args, id) => ({ name, id, arguments: JSON.stringify(args) });

const textOf = ({ content }) =>
  Array.isArray(content) ? content.map((part) => part.text ?? '').join('') : String(content ?? '');

/** Where the play that the request chooses is named, and which one. */
const chosen = ({ messages }) => {
  for (let at = messages.length - 1; at >= 0; at--) {
    if (messages[at].role !== 'user') continue;
    // Vendors let two messages in a row run together, so the last line counts.
    const line = textOf(messages[at]).split('\n').at(-1);
    const name = Object.keys(plays).find((play) => line === play || line.startsWith(`${play}:`));
    if (name !== undefined) return { at, name };
  }
  return { at: -1 };
};

/** The tool results that came after it. */
const results = (req) => req.messages.slice(chosen(req).at + 1).filter((m) => m.role === 'tool');

/** Calls the tools first; answers with text once every call has its result. */
const calling = (calls, text, more = {}) => (req) =>
  results(req).length < calls.length ? { toolCalls: calls, ...more } : { content: text };

const long = { city: 'Kiel', note: 'what the harbour office wrote this morning, in full. '.repeat(12) };

const plays = {
  text: { content: grey },
  short: { content: 'Yes.' },
  blank: { content: '', usage: { prompt_tokens: 3, completion_tokens: 1 } },
  reasoning: { content: 'Take an umbrella.', reasoning: thought, reasoningSignature: 'c2lnbmVkIGJ5IHRoZSBtb2RlbA==' },
  'reasoned call': calling([call('weather', { city: 'Kiel' }, 'call_reasoned')], 'It rains in Kiel.', {
    reasoning: thought,
    reasoningSignature: 'c2lnbmVkIGJ5IHRoZSBtb2RlbA==',
  }),
  'redacted call': calling([call('weather', { city: 'Kiel' }, 'call_redacted')], 'It rains in Kiel.', {
    reasoning: thought,
    reasoningSignature: 'c2lnbmVkIGJ5IHRoZSBtb2RlbA==',
    redactedThinking: ['d2hhdCBub2JvZHkgc2VlcyA='],
  }),
  'quiet call': calling([call('weather', { city: 'Kiel' }, 'call_quiet')], ''),
  call: calling([call('weather', long, 'call_only')], 'It rains in Kiel.'),
  camera: calling([call('camera', {}, 'call_camera')], 'A dot.'),
  parallel: calling(
    [call('weather', { city: 'Kiel' }, 'call_kiel'), call('weather', { city: 'Bergen' }, 'call_bergen')],
    'It rains in both.',
  ),
  'text then call': (req) =>
    results(req).length === 0
      ? { content: 'Let me look out of the window.', toolCalls: [call('weather', { city: 'Kiel' }, 'call_window')] }
      : { content: 'It rains in Kiel.' },
  'twelve steps': (req) => {
    const n = results(req).length;
    return n < 11 ? { toolCalls: [call('weather', { city: `Stop ${n + 1}` }, `call_${n + 1}`)] } : { content: 'Eleven stops, all wet.' };
  },
  'every step': (req) => ({ toolCalls: [call('weather', { city: `Stop ${results(req).length + 1}` })] }),
  image: { content: 'A dot.' },
  picture: { image: { b64Json: dot } },
  usage: { content: 'Counted.', usage: { prompt_tokens: 1200, completion_tokens: 34, total_tokens: 1234 } },
  structured: { content: JSON.stringify({ city: 'Kiel', degrees: 11, wet: true }) },
  misfit: { content: JSON.stringify({ city: 'Kiel', degrees: 'eleven' }) },
  'longer than allowed': { content: 'And then the', finishReason: 'length' },
  filtered: ({ model }) => ({ content: 'I', finishReason: model.startsWith('claude') ? 'refusal' : 'content_filter' }),
  'unknown tool': calling([call('teleport', { to: 'Kiel' }, 'call_unknown')], 'Then by train.'),
  'same ids': calling(
    [call('weather', { city: 'Kiel' }, 'call_same'), call('weather', { city: 'Bergen' }, 'call_same')],
    'It rains in both.',
  ),
  'huge arguments': calling([call('weather', { city: 'x'.repeat(10_000_000) }, 'call_huge')], 'That was too much.'),
};

/** How each vendor words the same refusal: [status, OpenAI, Anthropic, Gemini]. */
const errors = {
  'rate limited': [429, { message: 'Rate limit reached', type: 'requests', code: 'rate_limit_exceeded' },
    { message: 'This request would exceed your rate limit', type: 'rate_limit_error' },
    { message: 'Resource has been exhausted', type: 'RESOURCE_EXHAUSTED' }],
  'no credit': [429, { message: 'You exceeded your current quota', type: 'insufficient_quota', code: 'insufficient_quota' },
    { message: 'This request would exceed your rate limit', type: 'rate_limit_error' },
    { message: 'Resource has been exhausted', type: 'RESOURCE_EXHAUSTED' }],
  overloaded: [529, { message: 'The engine is overloaded', type: 'server_error', code: null },
    { message: 'Overloaded', type: 'overloaded_error' },
    { message: 'The model is overloaded', type: 'UNAVAILABLE' }],
  broken: [500, { message: 'The server had an error', type: 'server_error', code: null },
    { message: 'Internal server error', type: 'api_error' },
    { message: 'An internal error has occurred', type: 'INTERNAL' }],
  'wrong key': [401, { message: 'Incorrect API key provided', type: 'invalid_request_error', code: 'invalid_api_key' },
    { message: 'invalid x-api-key', type: 'authentication_error' },
    { message: 'API key not valid', type: 'UNAUTHENTICATED' }],
  refused: [400, { message: 'Unknown parameter', type: 'invalid_request_error', code: 'unknown_parameter' },
    { message: 'max_tokens: must be positive', type: 'invalid_request_error' },
    { message: 'Invalid value at generation_config', type: 'INVALID_ARGUMENT' }],
  'too long': [400,
    { message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens.",
      type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' },
    { message: 'prompt is too long: 210044 tokens > 200000 maximum', type: 'invalid_request_error' },
    { message: 'The input token count (1200044) exceeds the maximum number of tokens allowed (1048576).', type: 'INVALID_ARGUMENT' }],
};

const mock = new LLMock({ port: 0, chunkSize: 7, logLevel: 'warn', strict: true, journalMaxEntries: 0, fixtureCountsMaxTestIds: 0 });
for (const [context, [status, openai, anthropic, gemini]] of Object.entries(errors)) {
  mock.addFixture({
    match: { context },
    response: ({ model }) => ({
      status,
      error: model.startsWith('claude') ? anthropic : model.startsWith('gemini') ? gemini : openai,
    }),
  });
}
mock.addFixture({ match: { context: 'cut after four' }, response: plays.text, truncateAfterChunks: 4, latency: 2 });
for (const [name, response] of Object.entries(plays)) {
  mock.addFixture({
    match: { predicate: (req) => chosen(req).name === name },
    response,
    chunkSize: name === 'huge arguments' ? 1 << 16 : undefined,
  });
}
await mock.start();
process.stdout.write(JSON.stringify({ url: mock.url }) + '\n');
process.stdin.resume().on('end', () => process.exit(0));
