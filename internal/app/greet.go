package app

import (
	"fmt"
	"path/filepath"
	"strings"
)

// greet prints what somebody who has just started a server needs to go on:
// every line can be copied as it stands.
func (s *Server) greet() {
	c, url := s.config, s.URL()
	command := c.Command
	if url != "http://"+DefaultAddr {
		command += " --url " + url
	}
	lines := []string{
		fmt.Sprintf("Shoal %s is up on %s", c.Version, url),
		"",
		"  MCP   " + url + "/mcp",
		"  REST  " + url + "/v1    (reference: " + url + "/docs)",
		"  data  " + c.Data + "    (admin key: " + filepath.Join(c.Data, keyFile) + ")",
		"",
	}
	if c.AuthOff {
		lines = append(lines,
			"Anybody on this machine may act as anybody: --auth off. Connect an agent called scout:",
			"  claude mcp add --transport http shoal '"+url+"/mcp?agent=scout'",
			"  "+command+" spaces add welcome scout",
		)
	} else {
		lines = append(lines,
			"Connect an agent called scout, with its own key, to the space \"welcome\":",
			"  SCOUT_KEY=$("+command+" keys create --entity scout --join welcome -q)",
			"  claude mcp add --transport http shoal "+url+"/mcp --header \"Authorization: Bearer $SCOUT_KEY\"",
			"Other MCP clients take the same URL and header.",
		)
	}
	lines = append(lines,
		"Ask it to call wait_for_mentions, then write to it from another terminal:",
		"  "+command+" send welcome 'Hello scout, who are you?' -m scout --wait",
		"",
		"Ctrl-C stops the server.",
		"",
	)
	_, _ = fmt.Fprint(c.Out, strings.Join(lines, "\n")) // a closed terminal is no reason to stop
}
