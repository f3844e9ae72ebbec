// Reads the stream of a model with the Vercel AI SDK, as a user would, and reports the
// resources it used. It executes orders from standard input like the readers in Go.
//
//	node reader.mjs full|ui URL
import { createInterface } from 'node:readline';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { readUIMessageStream, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

const [, , how, url] = process.argv;

const send = tool({
  description: 'Sends a text.',
  inputSchema: z.object({ text: z.string() }),
  execute: ({ text }) => `sent ${text.length} bytes`,
});

// start starts a turn: if the answer is a tool call, the tool runs and the model is
// called again.
function start(order) {
  return streamText({
    model: createOpenAICompatible({ name: 'played', baseURL: url + order.path, apiKey: 'none' })('played'),
    prompt: 'Go on.',
    tools: { send },
    stopWhen: stepCountIs(10),
    maxRetries: 0,
    onError: ({ error }) => { throw error; },
  });
}

// full counts the parts of the stream that contain a delta, and their bytes.
async function full(order) {
  const wanted = order.tool ? 'tool-input-delta' : 'text-delta';
  let deltas = 0, size = 0;
  for await (const part of start(order).fullStream) {
    if (part.type === 'error') throw part.error;
    if (part.type !== wanted) continue;
    deltas++;
    size += (order.tool ? part.delta : part.text).length;
  }
  return { deltas, size };
}

// ui reads the successive states of the message that a page would display; the last one
// is complete.
async function ui(order) {
  let last, messages = 0;
  for await (const message of readUIMessageStream({ stream: start(order).toUIMessageStream() })) {
    last = message;
    messages++;
  }
  if (messages < order.deltas) throw new Error(`${messages} messages for ${order.deltas} deltas`);
  const call = last.parts.find((part) => part.type === 'tool-send');
  return { deltas: order.deltas, size: JSON.stringify(call.input).length };
}

const read = { full, ui }[how];
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  const used = process.cpuUsage(), began = performance.now();
  let seconds = 0, deltas = 0;
  while (seconds === 0 || seconds < order.seconds) {
    const found = await read(order);
    if (found.deltas !== order.deltas || found.size !== order.bytes) {
      throw new Error(`${found.deltas} deltas came with ${found.size} bytes; ${order.deltas} with ${order.bytes} were sent`);
    }
    deltas += found.deltas;
    seconds = (performance.now() - began) / 1000;
  }
  const { user, system } = process.cpuUsage(used);
  console.log(JSON.stringify({ deltas, seconds, cpu: (user + system) / 1e6, allocated: 0 }));
}
