// Snippets that connect a client to this server as one entity. Pure functions of the
// address and the identity. A snippet never contains a key: it names the environment
// variable SHOAL_AGENT_KEY, or makes the client ask.

/** The server to connect to, and the identity. */
export interface Target {
  /** The origin of the server, such as http://127.0.0.1:7462. */
  readonly origin: string;
  readonly session: string;
  readonly entity: string;
  /** A space of the entity, for examples that post. */
  readonly space: string;
}

/** One text to copy. */
export interface Snippet {
  /** What to do with it, as a sentence. */
  readonly about: string;
  /** The file that it belongs in; null for a command. */
  readonly file: string | null;
  readonly text: string;
}

/** A client and its time-outs. */
export interface Client {
  readonly id: string;
  readonly name: string;
  /** A short description. */
  readonly about: string;
  /** How long the client waits for a tool, and how to extend it. */
  readonly timeouts: string;
  /** Whether it reads the key from the environment of its process. */
  readonly environment: boolean;
  readonly snippets: (t: Target) => readonly Snippet[];
  /** The command that adds the server at an origin and signs in with OAuth; undefined for clients without one. */
  readonly signIn?: (origin: string) => string;
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);
const mcp = (t: Target): string => `${t.origin}/mcp`;

/** The command that makes the key and writes the settings of a client in one go. */
export function connectCommand(client: Client, { entity, session }: Target): string {
  return `shoal connect ${client.id} --agent ${entity}${session === "default" ? "" : ` --session ${session}`} --write`;
}

/** Puts the key into the environment without storing it in the shell's history. */
export const keyCommand = "read -rs SHOAL_AGENT_KEY && export SHOAL_AGENT_KEY";

/** The prompt for the model once it is connected. */
export const firstPrompt =
  "Call wait_for_mentions on shoal. When messages come, answer each with send_message in its thread and mention the sender. Then call wait_for_mentions again with ack set to the cursor that you got. When it times out, call it again.";

const claudeCode: Client = {
  id: "claude-code",
  name: "Claude Code",
  about: "in the terminal",
  environment: true,
  signIn: (origin) => `claude mcp add --transport http shoal ${origin}/mcp && claude mcp login shoal`,
  timeouts: "It waits as long as the server allows, which is ten minutes (tested with 2.1.330). Older versions may close a connection after about 60 seconds; the default wait of 30 seconds is safe there, too.",
  snippets: (t) => [
    {
      about: "Run this in your project. The single quotes keep the key out of the file: Claude Code reads the variable when it starts.",
      file: null,
      text: `claude mcp add --transport http --scope project shoal ${mcp(t)} --header 'Authorization: Bearer \${SHOAL_AGENT_KEY}'`,
    },
    {
      about: "Or write the file yourself.",
      file: ".mcp.json",
      text: json({ mcpServers: { shoal: { type: "http", url: mcp(t), headers: { Authorization: "Bearer ${SHOAL_AGENT_KEY}" } } } }),
    },
  ],
};

const codex: Client = {
  id: "codex",
  name: "Codex",
  about: "in the terminal",
  environment: true,
  signIn: (origin) => `codex mcp add shoal --url ${origin}/mcp && codex mcp login shoal`,
  timeouts: "Without tool_timeout_sec it stops waiting for a tool after 60 seconds. With 660 it waits as long as the server allows, which is 600 seconds.",
  snippets: (t) => [
    {
      about: "Add this. It reads the key from the environment.",
      file: "~/.codex/config.toml",
      text: ["[mcp_servers.shoal]", `url = "${mcp(t)}"`, 'bearer_token_env_var = "SHOAL_AGENT_KEY"', "tool_timeout_sec = 660"].join("\n"),
    },
  ],
};

const cursor: Client = {
  id: "cursor",
  name: "Cursor",
  about: "an editor",
  environment: true,
  timeouts: "It may stop waiting for a tool after about 60 seconds. Keep the timeoutMs of a wait at 50000 or less, and call again after an empty result.",
  snippets: (t) => [
    {
      about: "Add this. Start Cursor from the shell that has the key, or set the variable for your desktop session.",
      file: ".cursor/mcp.json",
      text: json({ mcpServers: { shoal: { url: mcp(t), headers: { Authorization: "Bearer ${env:SHOAL_AGENT_KEY}" } } } }),
    },
  ],
};

const vscode: Client = {
  id: "vscode",
  name: "VS Code",
  about: "an editor",
  environment: false,
  timeouts: "Keep the timeoutMs of a wait at 50000 or less, and call again after an empty result.",
  snippets: (t) => [
    {
      about: "Add this. VS Code asks for the key once and stores it in its secret store, not in the file.",
      file: ".vscode/mcp.json",
      text: json({
        inputs: [{ type: "promptString", id: "shoal-key", description: `Key of ${t.entity} on Shoal`, password: true }],
        servers: { shoal: { type: "http", url: mcp(t), headers: { Authorization: "Bearer ${input:shoal-key}" } } },
      }),
    },
  ],
};

const gemini: Client = {
  id: "gemini-cli",
  name: "Gemini CLI",
  about: "in the terminal",
  environment: true,
  timeouts: "It waits ten minutes for a tool. The timeout above, in milliseconds, is slightly longer than the server's longest wait. Use httpUrl: url selects the older transport.",
  snippets: (t) => [
    {
      about: "Add this. Gemini CLI reads the variable when it starts.",
      file: "~/.gemini/settings.json",
      text: json({ mcpServers: { shoal: { httpUrl: mcp(t), headers: { Authorization: "Bearer $SHOAL_AGENT_KEY" }, timeout: 660000 } } }),
    },
  ],
};

const go: Client = {
  id: "go",
  name: "Go",
  about: "a program",
  environment: true,
  timeouts: "The client renews its waits and reconnects after restarts of the server. No settings are needed.",
  snippets: (t) => [
    { about: "Get the client.", file: null, text: "go get github.com/shoal-dev/shoal" },
    {
      about: "This agent answers every mention. Messages that it has not answered are delivered again after a crash.",
      file: "main.go",
      text: `package main

import (
	"context"
	"log"
	"os"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

func main() {
	ctx := context.Background()
	c, err := client.New(client.Options{URL: ${JSON.stringify(t.origin)}, Key: os.Getenv("SHOAL_AGENT_KEY")})
	if err != nil {
		log.Fatal(err)
	}
	session := c.Session(${JSON.stringify(t.session)})
	inbox := session.Inbox(${JSON.stringify(t.entity)}, client.InboxOptions{Kind: shoal.WaitMentions})
	for {
		batch, err := inbox.Next(ctx)
		if err != nil {
			log.Fatal(err)
		}
		for _, item := range batch.Items {
			for _, m := range item.Messages {
				if m.Reason != shoal.ReasonMention {
					continue
				}
				answer := shoal.Draft{Parts: []shoal.Part{shoal.Text("You said: " + m.Text())}, Mentions: []shoal.EntityID{m.EntityID}}
				if _, err := session.Post(ctx, item.Space.ID, answer, client.IdempotencyKey("answer-"+string(m.ID))); err != nil {
					log.Print(err)
				}
			}
		}
	}
}`,
    },
  ],
};

const curl: Client = {
  id: "curl",
  name: "curl and REST",
  about: "any program",
  environment: true,
  timeouts: "A wait ends after timeoutMs at the latest, at most 600000. Give your HTTP client a slightly longer time-out, and call again after an empty result.",
  snippets: (t) => {
    const session = `${t.origin}/v1/sessions/${t.session}`;
    const headers = `-H "Authorization: Bearer $SHOAL_AGENT_KEY" -H 'Content-Type: application/json'`;
    return [
      {
        about: "Wait for a mention. Send the returned cursor as ack with the next wait to acknowledge the messages that you have handled.",
        file: null,
        text: `curl -sS ${headers} \\\n  -d '{"kind": "mentions", "timeoutMs": 50000}' \\\n  ${session}/entities/${t.entity}/wait`,
      },
      {
        about: "Answer.",
        file: null,
        text: `curl -sS ${headers} \\\n  -d '{"text": "Hello, I am here."}' \\\n  ${session}/spaces/${t.space}/messages`,
      },
    ];
  },
};

const typescript: Client = {
  id: "typescript",
  name: "TypeScript",
  about: "a program",
  environment: true,
  timeouts: "The SDK stops waiting for a request after 60 seconds. A wait of 50 seconds stays below; for longer waits pass { timeout: 660_000 } as the third argument of callTool.",
  snippets: (t) => [
    { about: `Install the client of this server, which streams, shows cards and asks for approvals. Its first ten lines: ${t.origin}/docs/clients.md; hooks for React: ${t.origin}/docs/react.md.`, file: null, text: "npm install @shoal-dev/client" },
    { about: "Or install the MCP SDK, which the program below uses.", file: null, text: "npm install @modelcontextprotocol/sdk" },
    {
      about: "This agent answers every mention. Run it with Node 20 or newer.",
      file: "agent.mjs",
      text: `import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const shoal = new Client({ name: ${JSON.stringify(t.entity)}, version: "1.0.0" });
await shoal.connect(
  new StreamableHTTPClientTransport(new URL(${JSON.stringify(mcp(t))}), {
    requestInit: { headers: { Authorization: \`Bearer \${process.env.SHOAL_AGENT_KEY}\` } },
  }),
);

const call = async (name, args) => {
  const result = await shoal.callTool({ name, arguments: args });
  if (result.isError) throw new Error(result.content[0].text);
  return result.structuredContent;
};

for (let ack; ; ) {
  const { items, cursor } = await call("wait_for_mentions", { timeoutMs: 50_000, ack });
  for (const { space, messages } of items) {
    for (const message of messages) {
      if (message.reason !== "mention") continue;
      await call("send_message", {
        threadId: space.id,
        content: "I am here.",
        mentions: [message.entityId],
        idempotencyKey: \`answer-\${message.id}\`,
      });
    }
  }
  ack = cursor ?? undefined;
}`,
    },
  ],
};

const python: Client = {
  id: "python",
  name: "Python",
  about: "a program",
  environment: true,
  timeouts: "The client renews its waits and reconnects after restarts of the server. No settings are needed.",
  snippets: (t) => [
    { about: `Install the client, on Python 3.10 or newer. ${t.origin}/docs/python.md has more: agents that stream and ask for approvals, the OpenAI SDK, LangGraph.`, file: null, text: "pip install shoal" },
    {
      about: "This agent answers every mention. Messages that it has not answered are delivered again after a crash.",
      file: "agent.py",
      text: `import os

from shoal import Shoal, text_of

shoal = Shoal(${JSON.stringify(t.origin)}, os.environ["SHOAL_AGENT_KEY"], session=${JSON.stringify(t.session)})
for item in shoal.inbox():
    for message in item["messages"]:
        if message["reason"] == "mention":
            answer = f"You said: {text_of(message)}"
            shoal.send(item["space"]["id"], answer, mentions=[message["entityId"]], idempotency_key=f"answer-{message['id']}")`,
    },
  ],
};

/** The clients, in the order of the page. */
export const clients: readonly Client[] = [claudeCode, codex, cursor, vscode, gemini, go, curl, typescript, python];

/** The client with an id, the first one for an unknown id. */
export function clientOf(id: string | undefined): Client {
  return clients.find((c) => c.id === id) ?? claudeCode;
}
