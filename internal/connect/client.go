package connect

import (
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
)

// Client is an MCP client program that brings its own model.
type Client struct {
	// ID is its name in commands, Name its name for people, Agent the default id of its
	// agent.
	ID, Name string
	Agent    shoal.EntityID
	// Install says how to install it, Start is the command that starts it, Allow says how
	// to let it use the tools of the entry %s without a question for each call.
	Install, Start, Allow string

	// signIn is the command that adds the entry %[1]s for the endpoint %[2]s and signs in with OAuth.
	signIn   string
	aliases  []string
	programs []string // what it is called on PATH
	format   format
	inside   string // the key below which the servers are listed
	// asks means that the client can ask for the key and store it safely. Its files are
	// shared with others, so no key is written into them.
	asks  bool
	entry func(name string, t Target) []field
}

// format is how a client writes its configuration.
type format int

const (
	jsonFormat format = iota
	tomlFormat
)

// Clients are all clients that there are entries for, in the order in which they
// are offered.
var Clients = []*Client{
	{
		ID: "claude-code", Name: "Claude Code", Agent: "claude", aliases: []string{"claude"}, programs: []string{"claude"},
		Install: "run `npm install -g @anthropic-ai/claude-code`", Start: "claude", Allow: "start it with --allowedTools mcp__%s",
		signIn: "claude mcp add --transport http %[1]s %[2]s && claude mcp login %[1]s",
		inside: "mcpServers",
		entry: func(_ string, t Target) []field {
			return []field{
				{"type", "http"},
				{"url", mcpURL(t.URL)},
				{"headers", bearer(t, "${%s}")},
				{"timeout", waitSeconds * 1000},
			}
		},
	},
	{
		ID: "codex", Name: "Codex", Agent: "codex", programs: []string{"codex"},
		Install: "run `npm install -g @openai/codex`", Start: "codex", Allow: `add default_tools_approval_mode = "approve" below [mcp_servers.%s]`,
		signIn: "codex mcp add %[1]s --url %[2]s && codex mcp login %[1]s",
		format: tomlFormat, inside: "mcp_servers",
		entry: func(_ string, t Target) []field {
			proof := field{"bearer_token_env_var", Variable(t.Agent)}
			if t.Key != "" {
				proof = field{"http_headers", bearer(t, "")}
			}
			return []field{{"url", mcpURL(t.URL)}, proof, {"tool_timeout_sec", waitSeconds}}
		},
	},
	{
		ID: "cursor", Name: "Cursor", Agent: "cursor", programs: []string{"cursor", "cursor-agent"},
		Install: "get it from cursor.com", Start: "cursor", Allow: "let its settings run the tools of %s automatically",
		inside: "mcpServers",
		entry: func(_ string, t Target) []field {
			return []field{{"url", mcpURL(t.URL)}, {"headers", bearer(t, "${env:%s}")}}
		},
	},
	{
		ID: "vscode", Name: "VS Code", Agent: "vscode", aliases: []string{"code", "vs-code"}, programs: []string{"code"},
		Install: "get it from code.visualstudio.com", Start: "code", Allow: "choose \"Always allow\" when it asks for a tool of %s",
		inside: "servers", asks: true,
		entry: func(name string, t Target) []field {
			return []field{
				{"type", "http"},
				{"url", mcpURL(t.URL)},
				{"headers", []field{{"Authorization", "Bearer ${input:" + inputID(name) + "}"}}},
			}
		},
	},
	{
		ID: "gemini-cli", Name: "Gemini CLI", Agent: "gemini", aliases: []string{"gemini"}, programs: []string{"gemini"},
		Install: "run `npm install -g @google/gemini-cli`", Start: "gemini", Allow: `add "trust": true to the entry %s`,
		inside: "mcpServers",
		entry: func(_ string, t Target) []field {
			return []field{{"httpUrl", mcpURL(t.URL)}, {"headers", bearer(t, "${%s}")}, {"timeout", waitSeconds * 1000}}
		},
	},
}

// ClientOf returns the client of an id or of one of its other names. An unknown
// one is an [shoal.InvalidArgument] error that lists them.
func ClientOf(name string) (*Client, error) {
	var ids []string
	for _, c := range Clients {
		for _, alias := range append([]string{c.ID}, c.aliases...) {
			if strings.EqualFold(alias, name) {
				return c, nil
			}
		}
		ids = append(ids, c.ID)
	}
	return nil, shoal.E("", shoal.InvalidArgument, fmt.Sprintf("unknown client %q; use one of %s", name, strings.Join(ids, ", ")))
}

// SignInCommand returns the command that adds the entry for the server at url and signs in, empty
// if the client has none.
func (c *Client) SignInCommand(entry, url string) string {
	if c.signIn == "" {
		return ""
	}
	return fmt.Sprintf(c.signIn, entry, mcpURL(url))
}

// Holds reports whether an entry for the client may contain a key. Otherwise the key is
// in the environment, or the client asks for it.
func (c *Client) Holds() bool { return !c.asks }

// Asks reports whether the client asks for the key when it starts.
func (c *Client) Asks() bool { return c.asks }

// bearer is the header with the key of the caller. Without a key it names the
// variable in the form that the client fills in.
func bearer(t Target, form string) []field {
	proof := t.Key
	if proof == "" {
		proof = fmt.Sprintf(form, Variable(t.Agent))
	}
	return []field{{"Authorization", "Bearer " + proof}}
}

// inputID names what VS Code asks for.
func inputID(name string) string { return name + "-key" }

// input makes VS Code ask.
func input(name string, agent shoal.EntityID) []field {
	return []field{
		{"type", "promptString"},
		{"id", inputID(name)},
		{"description", fmt.Sprintf("Key of %s on Shoal", agent)},
		{"password", true},
	}
}
