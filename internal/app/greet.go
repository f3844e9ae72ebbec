package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
)

// greet prints the next steps after the first start of a server:
// every line that is indented by two can be copied as it is.
func (s *Server) greet(ctx context.Context) {
	c, url := s.config, s.URL()
	command := c.Command
	if c.secure() {
		url = s.origin() // commands find the server by its data directory
	} else if url != "http://"+DefaultAddr {
		command += " --url " + url
	}
	lines := []string{
		fmt.Sprintf("Shoal %s is up on %s", c.Version, url),
		"",
	}
	lines = append(lines, s.invite(command)...)
	if at := s.MetricsURL(); at != "" {
		lines = append(lines, "  metrics "+at)
	}
	lines = append(lines, s.mostOfARequest(ctx, command)...)
	lines = append(lines,
		"  MCP   "+url+"/mcp",
		"  REST  "+url+"/v1    (reference: "+url+"/docs)",
		"  AG-UI "+url+"/agui/SESSION/SPACE    AI SDK "+url+"/ai-sdk/SESSION/SPACE    OpenAI "+url+"/openai/v1",
		"  data  "+c.Data+"    (keys: "+KeyFile+", "+OperatorKeyFile+")",
		"",
	)
	lines = append(lines, s.firstWords(ctx, command)...)
	if c.open() {
		lines = append(lines,
			"Anybody on this machine may act as anybody: --auth off. Connect an agent of yours called scout:",
			"  claude mcp add --transport http shoal '"+url+"/mcp?agent=scout'",
			"  "+command+" spaces add welcome scout",
		)
	} else {
		lines = append(lines,
			"Connect an agent of yours called scout, with its own key, to the space \"welcome\":",
			"  SCOUT_KEY=$("+command+" keys create --entity scout --join welcome -q)",
			"  claude mcp add --transport http shoal "+url+"/mcp --header \"Authorization: Bearer $SCOUT_KEY\"",
			"Or let `"+command+" connect CLIENT --write` do both, for claude-code, codex, cursor, vscode and gemini-cli.",
			"Other MCP clients take the same URL and header. A client that signs in needs no key; you choose its rights in the browser:",
			"`claude mcp add --transport http shoal "+url+"/mcp && claude mcp login shoal`.",
		)
	}
	lines = append(lines,
		"Ask it to call wait_for_mentions, then write to it from another terminal:",
		"  "+command+" send welcome 'Hello scout, who are you?' -m scout --wait",
		"",
		"Ctrl-C stops the server.",
		"",
	)
	_, _ = fmt.Fprint(c.Out, strings.Join(lines, "\n")) // a closed terminal does not stop the server
}

// invite is what opens the console: a link that signs in only where nothing keeps it, or
// else the command that makes one. Logs of services and containers keep what is printed.
func (s *Server) invite(command string) []string {
	if !s.config.open() && !s.config.Terminal {
		return []string{"Open the console in a browser with a link that this command makes; it works once, within ten minutes:", "  " + command + " console --admin", ""}
	}
	link := s.console.Link(s.origin())
	if link.ExpiresAt == nil {
		return []string{"Open the console in a browser:", "  " + link.URL, ""}
	}
	return []string{
		"Open the console in a browser. The link works once, within ten minutes; the command below it makes another.",
		"  " + link.URL,
		"  " + command + " console --admin",
		"",
	}
}

// mostOfARequest describes the limits of one message in the session default, if it has
// any.
func (s *Server) mostOfARequest(ctx context.Context, command string) []string {
	session, err := s.Hub.Sessions.Get(ctx, local, shoal.DefaultSession)
	if err != nil {
		s.config.Log.Error("the session cannot be read", "session", shoal.DefaultSession, "error", err)
		return nil
	}
	var most []string
	if l := session.Limits; l.MaxCostPerRequest > 0 {
		most = append(most, fmt.Sprintf("%.2f USD", l.MaxCostPerRequest))
	}
	if l := session.Limits; l.MaxTokensPerRequest > 0 {
		most = append(most, fmt.Sprintf("%d tokens", l.MaxTokensPerRequest))
	}
	if len(most) == 0 {
		return nil
	}
	return []string{"  limit " + strings.Join(most, " and ") + " of model usage per message    (" + command + " sessions limits)"}
}

// firstWords introduces the first agent, if it is still there.
func (s *Server) firstWords(ctx context.Context, command string) []string {
	stored, err := s.Hub.Agents.Get(ctx, local, shoal.DefaultSession, ShopAgent, 0)
	if errors.Is(err, shoal.NotFound) {
		return nil
	}
	if err != nil {
		s.config.Log.Error("the first agent cannot be read", "agent", ShopAgent, "error", err)
		return nil
	}
	has := modelOf(stored.Config)
	lines := []string{fmt.Sprintf("The agent %s in the space \"welcome\" answers with %s of %s.", ShopAgent, has.Name, has.Provider)}
	if has.Provider == scripted {
		lines = []string{
			fmt.Sprintf("The agent %s in the space \"welcome\" plays a script, one story. For a model that thinks, set one of", ShopAgent),
			"OPENAI_API_KEY, ANTHROPIC_API_KEY and GEMINI_API_KEY and start the server again.",
		}
	}
	return append(lines,
		"Write to it from another terminal, watch it answer, and answer what it asks:",
		"  "+command+" send welcome 'I need a laptop'",
		"  "+command+" tail welcome",
		"  "+command+" approvals",
		"",
	)
}
