// A program at the official OpenAI client, played from outside.
//
//   node client.mjs BASE_URL KEY [HEADERS]
//
// HEADERS is a JSON object of headers to send along. Each line that comes in is one call:
//
//   {"models": true}
//   {"chat": {…the parameters of chat.completions.create…}, "abortAfter": 1}
//   {"respond": {…the parameters of responses.create…}, "abortAfter": 1}
//   {"retrieve": "the id of a response", "with": {…parameters…}}, {"cancel": "its id"}, {"delete": "its id"}
//
// abortAfter gives the answer up after so many pieces of text. For each goes out one line, of a response also
// with its id, the texts of its messages, its conversation and the type of the last event of its stream:
//
//   {"models": ["id"], "text": "…", "reasoning": "…", "pieces": 3, "calls": [{"id": …, "name": …, "arguments": …}],
//    "finish": "stop", "usage": {…}, "model": "…", "status": 404, "error": {…}, "aborted": true}
//
// The end of the input ends the client.

import { createInterface } from "node:readline";

import OpenAI from "openai";

const [baseURL, apiKey, headers = "{}"] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey, defaultHeaders: JSON.parse(headers) });

async function chat(parameters, abortAfter) {
  if (!parameters.stream) {
    const { choices, usage, model } = await client.chat.completions.create(parameters);
    const { message, finish_reason: finish } = choices[0];
    const calls = (message.tool_calls ?? []).map((c) => ({ id: c.id, ...c.function }));
    return { text: message.content, reasoning: message.reasoning_content ?? "", pieces: 1, calls, finish, usage, model };
  }
  // The client's own accumulator, which refuses what does not fit.
  const stream = client.chat.completions.stream(parameters);
  const seen = { reasoning: "", pieces: 0 };
  stream.on("chunk", (chunk) => {
    const delta = chunk.choices[0]?.delta;
    seen.reasoning += delta?.reasoning_content ?? "";
    if (delta?.content) seen.pieces++;
    if (seen.pieces === abortAfter) stream.abort();
  });
  const { choices, usage, model } = await stream.finalChatCompletion();
  const { message, finish_reason: finish } = choices[0];
  const calls = (message.tool_calls ?? []).map((c) => ({ id: c.id, name: c.function.name, arguments: c.function.arguments }));
  return { ...seen, text: message.content, calls, finish, usage, model };
}

async function respond(parameters, abortAfter) {
  const seen = { reasoning: "", pieces: 0, joined: {} };
  let response;
  if (parameters.stream) {
    // The client's own accumulator, which refuses what does not fit.
    const stream = client.responses.stream(parameters);
    stream.on("event", ({ type }) => (seen.last = type));
    stream.on("response.output_text.delta", ({ item_id: item, delta }) => {
      seen.joined[item] = (seen.joined[item] ?? "") + delta;
      if (++seen.pieces === abortAfter) stream.abort();
    });
    stream.on("response.reasoning_summary_text.delta", ({ delta }) => (seen.reasoning += delta));
    response = await stream.finalResponse();
  } else {
    response = await client.responses.create(parameters);
  }
  for (const { type, id: item, content } of response.output) {
    if (type === "message" && parameters.stream && seen.joined[item] !== content[0].text) throw new Error(`the pieces of ${item} are ${seen.joined[item]}`);
  }
  return { ...shown(response), reasoning: seen.reasoning, pieces: seen.pieces, last: seen.last };
}

function shown({ id, output, output_text: text, status: finish, usage, model, error, conversation }) {
  if (error) return { status: 200, error: { name: finish, code: error.code, message: error.message } };
  const calls = output.filter((i) => i.type === "function_call").map((i) => ({ id: i.call_id, name: i.name, arguments: i.arguments }));
  const spent = { prompt_tokens: usage.input_tokens, completion_tokens: usage.output_tokens };
  return { id, texts: output.filter((i) => i.type === "message").map((i) => i.content[0].text), text, calls, finish, usage: spent, model, conversation: conversation.id };
}

async function answer(order) {
  try {
    if (order.models) {
      const models = [];
      for await (const m of client.models.list()) models.push(m.id);
      return { models };
    }
    if (order.retrieve) return shown(await client.responses.retrieve(order.retrieve, order.with));
    if (order.cancel) return shown(await client.responses.cancel(order.cancel));
    if (order.delete) return shown(await client.responses.delete(order.delete));
    if (order.respond) return await respond(order.respond, order.abortAfter);
    return await chat(order.chat, order.abortAfter);
  } catch (err) {
    if (err instanceof OpenAI.APIUserAbortError) return { aborted: true };
    return { status: err.status, error: { name: err.constructor.name, code: err.code, type: err.type, param: err.param, message: err.message } };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + "\n");
}
