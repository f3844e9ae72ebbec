// Package connect adds an entry for a Shoal server to the configuration of an MCP client,
// and removes it.
//
//	codex, _ := connect.ClientOf("codex")
//	machine, err := connect.Here(".")
//	config, err := connect.Open(codex, machine.File(codex, connect.User))
//	change, err := config.With("shoal", connect.Target{URL: "http://127.0.0.1:7462", Agent: "codex", Key: key}, nil)
//	fmt.Print(change.Diff(key))
//	err = change.Write()
//
// Guarantees:
//   - A file is edited as text: comments, order, indentation and line ends of
//     everything else stay. Before a change is returned, both texts are parsed, and the
//     change is refused if it would alter the meaning of anything but the entry.
//   - A file that is not JSON, or TOML, is refused and stays as it is.
//   - A file is replaced atomically, and only if it still has the content from which the
//     change was computed. It keeps its mode, and links to it stay links. If the entry
//     contains a key, only the owner can read the file from then on.
//   - [Change.Undo] restores a file byte by byte if it was not changed since; otherwise
//     it removes only the entry. It contains nothing of the file except what the entry
//     replaced.
//
// Nothing here calls a server or starts a client.
package connect

import (
	"strings"

	"github.com/shoal-dev/shoal"
)

// Scope is where an entry applies.
type Scope string

// The scopes: all projects of the user on this machine; the current directory for all of
// its users, through a file that is meant to be shared.
const (
	User    Scope = "user"
	Project Scope = "project"
)

// Target is the server and the agent of an entry.
type Target struct {
	// URL is the address of the server, without /mcp.
	URL string
	// Agent is the entity of the key.
	Agent shoal.EntityID
	// Key is the key in the entry. If it is empty, the entry names the environment
	// variable [Variable], or makes the client ask for the key.
	Key string
	// Program is the path of shoal, for hooks.
	Program string
	// WakeOnly leaves out the hooks that ask for permissions, and takes out those that are there.
	WakeOnly bool
}

// waitSeconds is how long clients are configured to wait for a tool: a little longer
// than the longest wait of the server.
const waitSeconds = 660

// mcpURL returns the address of a server's MCP endpoint.
func mcpURL(server string) string { return strings.TrimRight(server, "/") + "/mcp" }

// serverURL is the opposite of mcpURL.
func serverURL(mcp string) string { return strings.TrimSuffix(strings.TrimRight(mcp, "/"), "/mcp") }

// Variable is the environment variable in which a client looks for the key of an
// agent, such as SHOAL_SCOUT_KEY. Each agent has its own, and none is a variable from
// which the command line reads its own key.
func Variable(agent shoal.EntityID) string {
	word := func(r rune) rune {
		if r == '.' || r == '-' {
			return '_'
		}
		return r
	}
	return "SHOAL_" + strings.ToUpper(strings.Map(word, string(agent))) + "_KEY"
}
