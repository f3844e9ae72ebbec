// The snippets that people paste, character by character: clients are strict about the
// names of their fields, so a change here must be deliberate.
import { describe, expect, it } from "vitest";
import { clientOf, clients, connectCommand, type Target } from "./snippets";

const scout: Target = { origin: "http://127.0.0.1:7462", session: "default", entity: "scout", space: "welcome" };
const texts = (id: string) => clientOf(id).snippets(scout).map((s) => s.text);
const files = (id: string) => clientOf(id).snippets(scout).map((s) => s.file);

describe("the snippets", () => {
  it("Claude Code: a command whose quotes keep the key out of the file, and the file itself", () => {
    expect(files("claude-code")).toEqual([null, ".mcp.json"]);
    expect(texts("claude-code")).toEqual([
      "claude mcp add --transport http --scope project shoal http://127.0.0.1:7462/mcp --header 'Authorization: Bearer ${SHOAL_AGENT_KEY}'",
      `{
  "mcpServers": {
    "shoal": {
      "type": "http",
      "url": "http://127.0.0.1:7462/mcp",
      "headers": {
        "Authorization": "Bearer \${SHOAL_AGENT_KEY}"
      }
    }
  }
}`,
    ]);
  });

  it("Codex: the name of the variable, and a time-out longer than the longest wait", () => {
    expect(files("codex")).toEqual(["~/.codex/config.toml"]);
    expect(texts("codex")).toEqual([
      `[mcp_servers.shoal]
url = "http://127.0.0.1:7462/mcp"
bearer_token_env_var = "SHOAL_AGENT_KEY"
tool_timeout_sec = 660`,
    ]);
  });

  it("Cursor: its own syntax for variables", () => {
    expect(files("cursor")).toEqual([".cursor/mcp.json"]);
    expect(texts("cursor")).toEqual([
      `{
  "mcpServers": {
    "shoal": {
      "url": "http://127.0.0.1:7462/mcp",
      "headers": {
        "Authorization": "Bearer \${env:SHOAL_AGENT_KEY}"
      }
    }
  }
}`,
    ]);
  });

  it("VS Code: servers, not mcpServers, and a key that it asks for", () => {
    expect(files("vscode")).toEqual([".vscode/mcp.json"]);
    expect(texts("vscode")).toEqual([
      `{
  "inputs": [
    {
      "type": "promptString",
      "id": "shoal-key",
      "description": "Key of scout on Shoal",
      "password": true
    }
  ],
  "servers": {
    "shoal": {
      "type": "http",
      "url": "http://127.0.0.1:7462/mcp",
      "headers": {
        "Authorization": "Bearer \${input:shoal-key}"
      }
    }
  }
}`,
    ]);
  });

  it("Gemini CLI: httpUrl, not url", () => {
    expect(files("gemini-cli")).toEqual(["~/.gemini/settings.json"]);
    expect(texts("gemini-cli")).toEqual([
      `{
  "mcpServers": {
    "shoal": {
      "httpUrl": "http://127.0.0.1:7462/mcp",
      "headers": {
        "Authorization": "Bearer $SHOAL_AGENT_KEY"
      },
      "timeout": 660000
    }
  }
}`,
    ]);
  });

  it("curl: a wait, and an answer", () => {
    expect(texts("curl")).toEqual([
      `curl -sS -H "Authorization: Bearer $SHOAL_AGENT_KEY" -H 'Content-Type: application/json' \\
  -d '{"kind": "mentions", "timeoutMs": 50000}' \\
  http://127.0.0.1:7462/v1/sessions/default/entities/scout/wait`,
      `curl -sS -H "Authorization: Bearer $SHOAL_AGENT_KEY" -H 'Content-Type: application/json' \\
  -d '{"text": "Hello, I am here."}' \\
  http://127.0.0.1:7462/v1/sessions/default/spaces/welcome/messages`,
    ]);
  });

  it("Go and TypeScript: complete programs with the address and the identity", () => {
    expect(texts("go")[0]).toBe("go get github.com/shoal-dev/shoal");
    expect(texts("go")[1]).toContain('client.Options{URL: "http://127.0.0.1:7462", Key: os.Getenv("SHOAL_AGENT_KEY")}');
    expect(texts("go")[1]).toContain('c.Session("default")');
    expect(texts("go")[1]).toContain('session.Inbox("scout", client.InboxOptions{Kind: shoal.WaitMentions})');
    expect(texts("typescript").slice(0, 2)).toEqual(["npm install @shoal-dev/client", "npm install @modelcontextprotocol/sdk"]);
    expect(texts("typescript")[2]).toContain('new Client({ name: "scout", version: "1.0.0" })');
    expect(texts("typescript")[2]).toContain('new URL("http://127.0.0.1:7462/mcp")');
    expect(texts("typescript")[2]).toContain("Authorization: `Bearer ${process.env.SHOAL_AGENT_KEY}`");
  });

  it("Python: a complete program with the address and the session", () => {
    expect(texts("python")[0]).toBe("pip install shoal");
    expect(texts("python")[1]).toContain('Shoal("http://127.0.0.1:7462", os.environ["SHOAL_AGENT_KEY"], session="default")');
  });

  it("one command for each client that has settings; it names the session if that is not the default one", () => {
    expect(connectCommand(clientOf("codex"), scout)).toBe("shoal connect codex --agent scout --write");
    expect(connectCommand(clientOf("vscode"), { ...scout, session: "lab" })).toBe("shoal connect vscode --agent scout --session lab --write");
  });

  it("no snippet contains a key: clients read it from the environment, or ask for it", () => {
    for (const client of clients) {
      const all = client.snippets(scout).map((s) => s.text).join("\n");
      expect(all, client.id).not.toMatch(/shoal_[A-Za-z0-9_-]{8}/);
      expect(all, client.id).toMatch(client.environment ? /SHOAL_AGENT_KEY/ : /\$\{input:shoal-key\}/);
    }
  });

  it("an unknown client falls back to the first", () => {
    expect(clientOf("netscape").id).toBe("claude-code");
    expect(clientOf(undefined).id).toBe("claude-code");
  });
});
