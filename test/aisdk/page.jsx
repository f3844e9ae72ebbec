// A page that is made with useChat as its documentation says, for a chat whose address and key follow the #.
// It has what people need: messages, a form, buttons for the tool weather and for approvals, and Stop.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from "ai";
import { createRoot } from "react-dom/client";

const { api, key } = JSON.parse(decodeURIComponent(location.hash.slice(1)));
const headers = { Authorization: `Bearer ${key}` };

const weather = { description: "Returns the weather.", inputSchema: { type: "object", properties: { city: { type: "string" } } } };

const transport = new DefaultChatTransport({
  api,
  headers,
  body: { resume: true, tools: { weather } },
  prepareReconnectToStreamRequest: ({ id }) => ({ api: `${api}/${id}/stream?last` }),
});

function Tool({ part, chat }) {
  const { state, toolCallId, approval } = part;
  const name = part.type.slice("tool-".length);
  return (
    <div className="tool">
      {name} {JSON.stringify(part.input)} {state} {JSON.stringify(part.output)}
      {state === "input-available" && !part.providerExecuted && (
        <button onClick={() => chat.addToolOutput({ tool: name, toolCallId, output: "rain" })}>It rains</button>
      )}
      {state === "approval-requested" && <button onClick={() => chat.addToolApprovalResponse({ id: approval.id, approved: true })}>Approve</button>}
    </div>
  );
}

function Page({ messages }) {
  const chat = useChat({
    id: "page",
    messages,
    resume: true,
    transport,
    sendAutomaticallyWhen: (c) => lastAssistantMessageIsCompleteWithToolCalls(c) || lastAssistantMessageIsCompleteWithApprovalResponses(c),
  });
  async function stop() {
    await fetch(`${api}/${chat.id}/stop`, { method: "POST", headers });
    await chat.stop();
  }
  function send(event) {
    event.preventDefault();
    void chat.sendMessage({ text: new FormData(event.target).get("text") });
    event.target.reset();
  }
  return (
    <main>
      {chat.messages.map((message) => (
        <section key={message.id} data-role={message.role}>
          {message.parts.map((part, i) => (
            part.type === "text" ? <p key={i}>{part.text}</p> : isToolUIPart(part) ? <Tool key={i} part={part} chat={chat} /> : null
          ))}
        </section>
      ))}
      <form onSubmit={send}>
        <input name="text" aria-label="Message" />
        <button>Send</button>
        <button type="button" onClick={stop}>Stop</button>
      </form>
      <output>{chat.status}</output>
      <div role="alert">{chat.error?.message}</div>
    </main>
  );
}

const history = await fetch(api, { headers });
createRoot(document.getElementById("root")).render(history.ok ? <Page messages={await history.json()} /> : <div role="alert">{await history.text()}</div>);
