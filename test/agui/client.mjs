// A person at the official AG-UI client, played from outside: HttpAgent with its
// schemas, its sequence check and its reducer.
//
//   node client.mjs URL [HEADERS]
//
// HEADERS is a JSON object of headers to send along.
// Each line that comes in is one run: {"add": [message, …], "run": {…}, "abortOn": "TEXT_MESSAGE_CONTENT"}.
// add goes to the client's messages first, run is handed to runAgent (tools,
// context, forwardedProps, resume), and abortOn gives the run up at the first
// event of that type. With "connect": true it is connectAgent in place of runAgent.
// For each goes out one line:
//
//   {"messages": […], "events": ["RUN_STARTED", …], "outcome": "success", "pending": ["call"],
//    "interrupts": […], "custom": [{"name": …, "value": …}], "usage": […], "error": "…", "warnings": ["…"]}
//
// messages are those that the client ends with; warnings is what it complained of.
// The end of the input ends the client.

import { createInterface } from 'node:readline';

import { HttpAgent } from '@ag-ui/client';

const [url, headers = '{}'] = process.argv.slice(2);

let warnings = [];
console.warn = (...said) => warnings.push(said.map(String).join(' '));
console.error = () => {}; // runAgent rejects with the same error

// HttpAgent leaves it to its users where they connect.
class ConnectingAgent extends HttpAgent {
  connect(input) {
    return new HttpAgent({ url: `${this.url}/connect`, headers: this.headers }).run(input);
  }
}

const agent = new ConnectingAgent({ url, headers: JSON.parse(headers), threadId: 'thread' });

async function run({ add = [], run: parameters = {}, abortOn, connect = false }) {
  warnings = [];
  const observed = { events: [], custom: [], pending: [], interrupts: [] };
  for (const message of add) agent.messages.push(message);
  const subscriber = {
    onEvent({ event }) {
      observed.events.push(event.type);
      if (event.type === 'CUSTOM') observed.custom.push({ name: event.name, value: event.value });
      if (event.usage) observed.usage = event.usage;
      if (event.type === abortOn) agent.abortRun();
    },
    onRunFinishedEvent({ outcome, pendingToolCallIds = [], interrupts = [] }) {
      Object.assign(observed, { outcome, pending: pendingToolCallIds, interrupts });
    },
    onRunErrorEvent({ event }) {
      observed.outcome = 'error';
      observed.error = `${event.code}: ${event.message}`;
    },
  };
  try {
    await (connect ? agent.connectAgent(parameters, subscriber) : agent.runAgent(parameters, subscriber));
  } catch (err) {
    observed.error = err.message;
  }
  return { ...observed, messages: agent.messages, warnings };
}

for await (const line of createInterface({ input: process.stdin })) {
  const observed = await run(JSON.parse(line));
  process.stdout.write(JSON.stringify(observed) + '\n');
}
