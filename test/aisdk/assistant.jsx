// The page of page.jsx, made with assistant-ui as its documentation says: its runtime around useChat, its transport,
// which sends the tools that the page registers, its parts, composer and approvals.
import { useChat } from "@ai-sdk/react";
import { AssistantRuntimeProvider, ComposerPrimitive, makeAssistantTool, MessagePrimitive, ThreadPrimitive } from "@assistant-ui/react";
import { AssistantChatTransport, useAISDKRuntime } from "@assistant-ui/react-ai-sdk";
import { lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from "ai";
import { createRoot } from "react-dom/client";

const { api, key } = JSON.parse(decodeURIComponent(location.hash.slice(1)));
const headers = { Authorization: `Bearer ${key}` };

const transport = new AssistantChatTransport({
  api,
  headers,
  body: { resume: true },
  prepareReconnectToStreamRequest: ({ id }) => ({ api: `${api}/${id}/stream?last` }),
});

function Tool({ toolName, args, result, approval, addResult, respondToApproval }) {
  const asks = approval !== undefined && approval.approved === undefined && approval.resolution === undefined;
  return (
    <div className="tool">
      {toolName} {JSON.stringify(args)} {asks ? "approval-requested" : result === undefined ? "input-available" : "output-available"} {JSON.stringify(result)}
      {toolName === "weather" && result === undefined && <button onClick={() => addResult("rain")}>It rains</button>}
      {asks && <button onClick={() => respondToApproval({ approved: true })}>Approve</button>}
    </div>
  );
}

const Weather = makeAssistantTool({
  toolName: "weather",
  type: "human",
  description: "Returns the weather.",
  parameters: { type: "object", properties: { city: { type: "string" } } },
  render: Tool,
});

const Text = ({ text }) => <p>{text}</p>;

const parts = { Text, tools: { Fallback: Tool } };

const Message = () => (
  <MessagePrimitive.Root>
    <MessagePrimitive.Parts components={parts} />
  </MessagePrimitive.Root>
);

function Page({ messages }) {
  const chat = useChat({
    id: "page",
    messages,
    resume: true,
    transport,
    sendAutomaticallyWhen: (c) => lastAssistantMessageIsCompleteWithToolCalls(c) || lastAssistantMessageIsCompleteWithApprovalResponses(c),
  });
  const runtime = useAISDKRuntime(chat);
  transport.setRuntime(runtime);
  async function stop() {
    await fetch(`${api}/${chat.id}/stop`, { method: "POST", headers });
    await chat.stop();
  }
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <Weather />
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Messages components={{ Message }} />
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input aria-label="Message" />
          <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
          <button type="button" onClick={stop}>Stop</button>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
      <output>{chat.status}</output>
      <div role="alert">{chat.error?.message}</div>
    </AssistantRuntimeProvider>
  );
}

const history = await fetch(api, { headers });
createRoot(document.getElementById("root")).render(history.ok ? <Page messages={await history.json()} /> : <div role="alert">{await history.text()}</div>);
