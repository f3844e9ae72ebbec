package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/internal/connect"
)

// entryName is the default name of the entries that `shoal connect` writes.
const entryName = "shoal"

// clients checks the entries of this machine's MCP clients for the server: a client
// with a short tool timeout gives up before its wait returns.
func (x *examination) clients() {
	if x.Machine == nil {
		return
	}
	var apart []string
	for _, c := range connect.Clients {
		told := false
		for _, scope := range []connect.Scope{connect.User, connect.Project} {
			told = x.entry(c, scope) || told
		}
		if _, err := x.Machine.Installed(c); err == nil && !told {
			apart = append(apart, c.ID)
		}
	}
	if len(apart) > 0 {
		slices.Sort(apart)
		x.ok("clients", fmt.Sprintf("on this machine, without an entry that leads here: %s", strings.Join(apart, ", ")))
	}
}

// entry checks a client's file, and reports whether it has a finding.
func (x *examination) entry(c *connect.Client, scope connect.Scope) bool {
	check := "client " + c.ID
	if scope == connect.Project {
		check += " (project)"
	}
	file := x.Machine.File(c, scope)
	config, err := connect.Open(c, file)
	if err != nil {
		x.warn(check, message(err), "correct the file: the client cannot read it either")
		return true
	}
	entry, found, err := config.Entry(entryName)
	if err != nil || !found || !entry.Leads(x.URL) {
		return false
	}
	set, wanted, err := config.ToolTimeout(entryName)
	switch {
	case err != nil:
		x.warn(check, message(err), "write the entry anew: `shoal connect "+c.ID+" --write`")
	case wanted == 0:
		x.ok(check, file+" leads here; how long a call may take is the client's own matter")
	case set == 0:
		x.warn(check, file+" leads here and does not say how long a call may take", "write the entry anew: `shoal connect "+c.ID+" --write`")
	case set < wanted:
		x.warn(check, fmt.Sprintf("%s leads here and gives a call up after %s", file, set), fmt.Sprintf("give it %s, or write the entry anew: `shoal connect %s --write`", wanted, c.ID))
	default:
		x.ok(check, fmt.Sprintf("%s leads here; a call may take %s", file, set))
	}
	return true
}
