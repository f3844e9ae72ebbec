// Package mcptool gives an agent the tools of an MCP server.
//
//	files, err := mcptool.Connect(ctx, mcptool.Server{
//		Name:    "files",
//		Command: []string{"files-mcp", "--root", "/srv/shop"},
//	})
//	…
//	defer files.Close()
//	a, err := agent.New(model, agent.Options{Tools: files.Tools()})
//
// The package guarantees:
//   - Every call requires permission, unless Server.RequiresPermission is false.
//   - The next call that needs a lost connection restores it. A call that
//     the server cannot have received is then repeated, once; a call that it may have
//     received is repeated only if its tool is idempotent.
//   - Errors do not contain the headers, the query and the Env of a [Server], and
//     headers are sent only to its host, wherever it redirects to.
//   - [Connection.Close] ends everything: calls, streams, the server's process
//     and all goroutines.
package mcptool

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

// Transport is the MCP transport of a server.
type Transport string

// The transports.
const (
	HTTP  Transport = "http"  // streamable HTTP; the default with a URL
	SSE   Transport = "sse"   // HTTP with server-sent events, as of 2024
	Stdio Transport = "stdio" // a process of our own; the default with a Command
)

// Server describes the MCP server to connect to: one with a URL, or a Command to
// start.
type Server struct {
	// Name is the server's name in errors. Required.
	Name      string
	Transport Transport
	// URL is the endpoint; Headers are sent to it with every request.
	URL     string
	Headers map[string]string
	// HTTPClient makes the requests; its Timeout is ignored. nil means a client of the
	// connection's own.
	HTTPClient *http.Client
	// Command is the program and its arguments. Its environment is Env (NAME=value)
	// and, of this process's, only HOME, LANG, LOGNAME, PATH, SHELL, TMPDIR and USER.
	Command []string
	Env     []string
	// Prefix is put before the tools' names, such as "files_".
	Prefix string
	// AllowedTools are the server's names of the tools to use; empty means all.
	AllowedTools []string
	// RequiresPermission applies to every tool; nil means true. [agent.Configure] sets
	// it for a single tool.
	RequiresPermission *bool
	// Timeout limits connecting and every call (see [agent.ToolSpec]). Default 30 s.
	Timeout time.Duration
}

// Connection is a connection to an MCP server. It is safe for concurrent use.
type Connection struct {
	server  Server
	host    string // what errors call the server's place
	secrets *strings.Replacer
	ctx     context.Context // ends with Close
	cancel  context.CancelCauseFunc
	retired sync.WaitGroup // links that are being closed

	// turn is held while connecting; only its holder writes link.
	turn chan struct{}
	link atomic.Pointer[link]

	progress progress
	// stale reports that the server's list of tools has changed.
	stale atomic.Bool
	mu    sync.Mutex
	tools []agent.Tool
}

var errClosed = errors.New("the connection is closed")

// Connect connects to a server and requests its tools. ctx limits only the connecting.
// It fails with ErrInvalidArgument if a field of server is invalid, and with ErrNotFound
// if the server does not have an allowed tool; any other error names the server's
// address and what failed.
func Connect(ctx context.Context, server Server) (*Connection, error) {
	const op = "mcptool.Connect"
	host, err := server.check()
	if err != nil {
		err.Op = op
		return nil, err
	}
	if server.Timeout == 0 {
		server.Timeout = 30 * time.Second
	}
	c := &Connection{server: server, host: host, secrets: server.secrets(), turn: make(chan struct{}, 1)}
	c.ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	ctx, cancel := context.WithTimeout(ctx, server.Timeout)
	defer cancel()
	tools, failure := c.list(ctx)
	if failure == nil {
		failure = c.server.missing(tools)
	}
	if failure != nil {
		_ = c.Close() // never fails
		if e, ok := errors.AsType[*agent.Error](failure); ok {
			e.Op = op
		}
		return nil, failure
	}
	c.tools = tools
	c.stale.Store(false)
	return c, nil
}

// Tools returns the server's tools in the order of their names. If the server
// has reported a change of its list, or the connection was restored, Tools requests
// the new list first, within Server.Timeout, and returns the old one if that
// fails.
//
// Characters that tool names must not contain become underscores, long names are
// truncated, and names that are then equal get a number.
func (c *Connection) Tools() []agent.Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stale.Swap(false) {
		ctx, cancel := context.WithTimeout(c.ctx, c.server.Timeout)
		defer cancel()
		if tools, err := c.list(ctx); err == nil {
			c.tools = tools
		} else {
			c.stale.Store(true)
		}
	}
	return slices.Clone(c.tools)
}

// Close ends the calls in flight and the connection. A server's process gets two
// seconds to end by itself. Close waits for all of it, may be called more than
// once and returns nil.
func (c *Connection) Close() error {
	c.cancel(errClosed)
	c.turn <- struct{}{}
	if l := c.link.Swap(nil); l != nil {
		l.close()
	}
	<-c.turn
	c.retired.Wait()
	return nil
}

// current returns a connected link, and connects if necessary.
func (c *Connection) current(ctx context.Context, broken *link) (*link, error) {
	if l := c.link.Load(); l != nil && l != broken && !l.lost() {
		return l, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.server.Timeout)
	defer cancel()
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, c.failed(ctx, outcome{}, context.Cause(ctx))
	}
	old := c.link.Load()
	if old != nil && old != broken && !old.lost() {
		return old, nil
	}
	if c.ctx.Err() != nil {
		return nil, c.failed(c.ctx, outcome{}, errClosed)
	}
	l, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	if c.link.Store(l); old != nil {
		c.stale.Store(true)
		c.retired.Go(old.close)
	}
	return l, nil
}

// check returns what errors call the server's place.
func (s *Server) check() (host string, wrong *agent.Error) {
	if s.Name == "" {
		return "", agent.Invalid("Name", "is empty")
	}
	if s.Transport == "" {
		s.Transport = HTTP
		if len(s.Command) > 0 {
			s.Transport = Stdio
		}
	}
	if s.Timeout < 0 {
		return "", agent.Invalid("Timeout", "is negative")
	}
	switch s.Transport {
	case Stdio:
		if len(s.Command) == 0 || s.URL != "" {
			return "", agent.Invalid("Command", "has to name a program, and there is no URL then")
		}
		return s.Command[0], nil
	case HTTP, SSE:
		u, err := url.Parse(s.URL)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || len(s.Command) > 0 {
			return "", agent.Invalid("URL", "has to be one of http or https, and there is no Command then")
		}
		return u.Host, nil
	}
	return "", agent.Invalid("Transport", "must be http, sse or stdio")
}
