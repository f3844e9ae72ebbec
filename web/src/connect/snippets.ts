// What to give to a client so that it talks to this server as one entity. Pure
// functions of the place and the identity. A snippet never holds a key: it names
// the environment variable SHOAL_AGENT_KEY, or has the client ask for it.

/** Where a client is to connect, and as whom. */
export interface Target {
  /** The origin of the server, such as http://127.0.0.1:7462. */
  readonly origin: string;
  readonly session: string;
  readonly entity: string;
  /** A space that the entity is in, for examples that post. */
  readonly space: string;
}

/** One thing to copy. */
export interface Snippet {
  /** What to do with it, as a sentence. */
  readonly about: string;
  /** The file it goes to; null for a command. */
  readonly file: string | null;
  readonly text: string;
}

/** A client, and what to know about its time-outs. */
export interface Client {
  readonly id: string;
  readonly name: string;
  /** What it is, in a few words. */
  readonly about: string;
  /** How long the client waits for a tool, and how to make it wait longer. */
  readonly timeouts: string;
  /** Whether it reads the key from the environment of its process. */
  readonly environment: boolean;
  readonly snippets: (t: Target) => readonly Snippet[];
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);
const mcp = (t: Target): string => `${t.origin}/mcp`;

/** How to put the key into the environment without it standing in the shell's history. */
export const keyCommand = "read -rs SHOAL_AGENT_KEY && export SHOAL_AGENT_KEY";

/** What to tell the model once it is connected. */
export const firstPrompt =
  "Call wait_for_mentions on shoal. When messages come, answer each with send_message in its thread and mention the sender. Then call wait_for_mentions again with ack set to the cursor that you got. When it times out, just call it again.";

const claudeCode: Client = {
  id: "claude-code",
  name: "Claude Code",
  about: "in the terminal",
  environment: true,
  timeouts: "It waits as long as the server allows, which is ten minutes (seen with 2.1.330). Older versions may cut a connection after about 60 seconds; waits of the default 30 seconds are safe there, too.",
  snippets: (t) => [
    {
      about: "Run this in your project. The single quotes keep the key out of the file: Claude Code fills in the variable when it starts.",
      file: null,
      text: `claude mcp add --transport http --scope project shoal ${mcp(t)} --header 'Authorization: Bearer \${SHOAL_AGENT_KEY}'`,
    },
    {
      about: "Or write the same by hand.",
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
  timeouts: "Without tool_timeout_sec it gives up on a tool after 60 seconds. The 660 below let it wait for as long as the server allows, which is 600.",
  snippets: (t) => [
    {
      about: "Add this. It takes the key from the environment.",
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
  timeouts: "It may give up on a tool after about 60 seconds. Keep the timeoutMs of a wait at 50000 or less; a wait that ends empty is simply called again.",
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
  timeouts: "Keep the timeoutMs of a wait at 50000 or less; a wait that ends empty is simply called again.",
  snippets: (t) => [
    {
      about: "Add this. VS Code asks for the key once and keeps it in its own secret store, not in the file.",
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
  timeouts: "It waits ten minutes for a tool; the timeout below, in milliseconds, is a little more than the longest wait of the server. The name httpUrl matters: url would mean the older transport.",
  snippets: (t) => [
    {
      about: "Add this. Gemini CLI fills in the variable when it starts.",
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
  timeouts: "The client renews its waits by itself and outlives restarts of the server. There is nothing to set.",
  snippets: (t) => [
    { about: "Get the client.", file: null, text: "go get github.com/shoal-dev/shoal" },
    {
      about: "This agent answers whoever mentions it. What is not answered yet comes again after a crash.",
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
  about: "any program that speaks HTTP",
  environment: true,
  timeouts: "The wait ends after timeoutMs at the latest, at most 600000. Give your HTTP client a little longer, and call again when it comes back empty.",
  snippets: (t) => {
    const session = `${t.origin}/v1/sessions/${t.session}`;
    const headers = `-H "Authorization: Bearer $SHOAL_AGENT_KEY" -H 'Content-Type: application/json'`;
    return [
      {
        about: "Wait for a mention. Send the cursor that you get as ack with the next wait: that acknowledges what you have handled.",
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
  about: "a program on the MCP SDK",
  environment: true,
  timeouts: "The SDK gives up on a request after 60 seconds. A wait of 50 seconds stays below; for longer ones pass { timeout: 660_000 } as the third argument of callTool.",
  snippets: (t) => [
    { about: "Get the SDK.", file: null, text: "npm install @modelcontextprotocol/sdk" },
    {
      about: "This agent answers whoever mentions it. Run it with node 20 or newer.",
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

/** The clients that the console knows, in the order in which it offers them. */
export const clients: readonly Client[] = [claudeCode, codex, cursor, vscode, gemini, go, curl, typescript];

/** The client of an id, the first one for an id that is not known. */
export function clientOf(id: string | undefined): Client {
  return clients.find((c) => c.id === id) ?? claudeCode;
}
