// Package connect puts an entry for a Shoal server into the configuration of an
// MCP client, and takes it away again.
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
//     everything else stay. Before a change is handed out both texts are parsed,
//     and it is refused if anything but the entry would say something else.
//   - A file that is not JSON, or TOML, is refused and stays as it is.
//   - A file changes at once or not at all, and only if it still holds what the
//     change was made from. It keeps its mode, and links to it stay links. If the
//     entry holds a key, nobody but the owner may read the file from then on.
//   - What [Change.Undo] remembers restores a file byte by byte if nobody has
//     changed it since, and takes only the entry out of it otherwise. It holds
//     none of the file but what the entry replaced.
//
// Nothing here calls a server or starts a client.
package connect

import (
	"strings"

	"github.com/shoal-dev/shoal"
)

// Scope says for whom an entry counts.
type Scope string

// The scopes: all projects of the user on this machine; the current directory for all of
// its users, through a file that is meant to be shared.
const (
	User    Scope = "user"
	Project Scope = "project"
)

// Target is what an entry leads to.
type Target struct {
	// URL is where the server is, without /mcp.
	URL string
	// Agent is whom the key acts as.
	Agent shoal.EntityID
	// Key is what the entry holds to prove it. If it is empty the entry names
	// the environment variable [Variable], or has the client ask for it.
	Key string
}

// waitSeconds is how long clients are configured to wait for a tool: a little longer
// than the longest wait of the server.
const waitSeconds = 660

// mcpURL is where a server speaks MCP.
func mcpURL(server string) string { return strings.TrimRight(server, "/") + "/mcp" }

// Variable is the environment variable in which a client looks for the key of an
// agent, such as SHOAL_SCOUT_KEY: one for each agent, and none that the command
// line takes for a key of its own.
func Variable(agent shoal.EntityID) string {
	word := func(r rune) rune {
		if r == '.' || r == '-' {
			return '_'
		}
		return r
	}
	return "SHOAL_" + strings.ToUpper(strings.Map(word, string(agent))) + "_KEY"
}
