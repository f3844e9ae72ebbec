// A program at the official AI SDK client, played from outside: Chat of @ai-sdk/react, which useChat is made
// of, with the DefaultChatTransport of ai.
//
//   node client.mjs
//
// Each line that comes in is one order:
//
//   {"as": {"api": "…", "key": "…", "body": {…}}}                 begins a chat at this address; body is sent with each message,
//    "take": "messages" | "message"}                              and all messages (the default), or the last one
//   {"send": {"text": "…", "files": […], "messageId": "…"}, "stopAfter": 3, "cutAfter": 200}
//   {"outputs": [{"tool": "…", "toolCallId": "…", "output": …}]}  or state and errorText
//   {"approve": {"id": "…", "approved": true, "reason": "…"}}
//   {"again": true}                                               sends the messages once more, as they are
//   {"regenerate": true}
//   {"resume": true, "last": true}
//   {"history": true}                                             replaces the messages by those of the server
//   {"set": […]}                                                  replaces the messages
//   {"forget": true}                                              begins with no messages, as a page that is loaded
//   {"stop": true}                                                asks the server to stop
//
// stopAfter stops the client after so many pieces of text, cutAfter breaks its connection after so many bytes.
// Answers are sent by themselves when all are given, as the helpers of the AI SDK do it. For each order goes
// out one line:
//
//   {"messages": […], "status": "ready", "error": "…", "statusCode": 404, "data": […], "calls": […], "finish": "stop"}
//
// The end of the input ends the client.

import { createInterface } from "node:readline";

import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from "ai";

let api, headers, body;
let cutAfter, stopAfter, last, take = "messages";
let seen = { data: [], calls: [], pieces: 0 };

// The connection of a client that loses it in the middle.
async function fetchAndCut(url, init) {
  const cut = cutAfter;
  cutAfter = undefined;
  if (cut === undefined) return fetch(url, init);
  const abort = new AbortController();
  const response = await fetch(url, { ...init, signal: abort.signal });
  if (!response.body) return response;
  let left = cut;
  const pieces = new TransformStream({
    transform(piece, out) {
      out.enqueue(piece.subarray(0, Math.max(left, 0)));
      left -= piece.length;
      if (left > 0) return;
      abort.abort();
      out.error(new TypeError("network error"));
    },
  });
  const cutBody = response.body.pipeThrough(pieces);
  return new Response(cutBody, response);
}

function begin(messages = []) {
  return new Chat({
    id: "chat-1",
    messages,
    transport: new DefaultChatTransport({
      api,
      headers,
      body,
      fetch: fetchAndCut,
      prepareSendMessagesRequest:
        take === "message" ? ({ id, messages, trigger, body }) => ({ body: { ...body, id, trigger, message: messages.at(-1) } }) : undefined,
      prepareReconnectToStreamRequest: ({ api, id }) => (last ? { api: `${api}/${id}/stream?last` } : {}),
    }),
    sendAutomaticallyWhen: (chat) => lastAssistantMessageIsCompleteWithToolCalls(chat) || lastAssistantMessageIsCompleteWithApprovalResponses(chat),
    onToolCall: ({ toolCall }) => void seen.calls.push(toolCall.toolName),
    onData: (part) => void seen.data.push(part),
    onFinish: ({ finishReason }) => void (seen.finish = finishReason),
  });
}

let chat;

function start(messages) {
  chat = begin(messages);
  chat["~registerMessagesCallback"](() => {
    const text = chat.lastMessage?.parts.findLast((part) => part.type === "text");
    if (text?.text !== seen.text) seen.pieces++;
    seen.text = text?.text;
    if (stopAfter && seen.pieces > stopAfter) {
      stopAfter = undefined;
      void chat.stop();
    }
  });
}

// Does something, and waits for the request that follows from it.
async function settled(act) {
  const ended = new Promise((resolve) => {
    let began = false;
    const stop = chat["~registerStatusCallback"](() => {
      began ||= chat.status === "submitted";
      if (began && (chat.status === "ready" || chat.status === "error")) setImmediate(() => { stop(); resolve(); });
    });
  });
  await act();
  await ended;
}

async function play(order) {
  ({ cutAfter, stopAfter, last } = order);
  if (order.as) {
    ({ api, body } = order.as);
    headers = { Authorization: `Bearer ${order.as.key}` };
    take = order.take ?? "messages";
    start([]);
  }
  if (order.set) chat.messages = order.set;
  if (order.send) await chat.sendMessage(order.send);
  if (order.again) await chat.sendMessage();
  if (order.outputs) await settled(() => Promise.all(order.outputs.map((output) => chat.addToolOutput(output))));
  if (order.approve) await settled(() => chat.addToolApprovalResponse(order.approve));
  if (order.regenerate) await chat.regenerate();
  if (order.forget || order.history) {
    const history = order.history ? await fetch(api, { headers }) : undefined;
    if (history && !history.ok) return { statusCode: history.status, error: await history.text() };
    start(history ? await history.json() : []);
  }
  if (order.resume) await chat.resumeStream();
  if (order.stop) {
    const stopped = await fetch(`${api}/${chat.id}/stop`, { method: "POST", headers });
    return { statusCode: stopped.status, error: stopped.ok ? undefined : await stopped.text() };
  }
  return {};
}

for await (const line of createInterface({ input: process.stdin })) {
  seen = { data: [], calls: [], pieces: 0 };
  const got = await play(JSON.parse(line));
  const { messages, status, error } = chat;
  const { data, calls, finish, pieces } = seen;
  process.stdout.write(JSON.stringify({ messages, status, error: error?.message, statusCode: error?.statusCode, data, calls, finish, pieces, ...got }) + "\n");
}
