package mcptool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/shoal-dev/shoal/agent"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// closeGrace is how long a process may take to end, then how long to obey SIGTERM.
	closeGrace = time.Second
	// rejectedByTransport is the SDK's code for a request that no server answered.
	rejectedByTransport = -32005
	// maxStderr is how much of the end of a process's stderr an error contains.
	maxStderr = 1 << 10
)

// link is one session with the server. Its owner closes it.
type link struct {
	session *mcp.ClientSession
	end     context.CancelCauseFunc // ends requests and process at once
	ended   chan struct{}           // closed when the session is over
	http    *roundTripper           // nil with Stdio
}

// connect makes a session with the server.
func (c *Connection) connect(ctx context.Context) (*link, error) {
	// The session outlives ctx, which may end its making only, and Close, which
	// takes leave of the server.
	life, end := context.WithCancelCause(context.WithoutCancel(c.ctx))
	stop := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	l := &link{end: end, ended: make(chan struct{})}
	var stderr tail
	client := mcp.NewClient(&mcp.Implementation{Name: "shoal-agent", Version: "1"}, &mcp.ClientOptions{
		Capabilities:                &mcp.ClientCapabilities{}, // no roots
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { c.stale.Store(true) },
		ProgressNotificationHandler: c.progress.report,
	})
	var sent delivery
	session, err := client.Connect(context.WithValue(life, deliveryKey{}, &sent), c.transport(life, l, &stderr), nil)
	if err == nil {
		l.session = session
		go func() {
			_ = session.Wait() // the next call says what is wrong
			close(l.ended)
		}()
		if stop() {
			return l, nil
		}
		l.close()
		err = context.Cause(ctx)
	}
	stop()
	end(errClosed)
	l.closeIdle()
	if words := stderr.String(); words != "" {
		err = fmt.Errorf("%w; it wrote: %s", err, words)
	}
	return nil, c.failed(ctx, sent.outcome(), err)
}

func (c *Connection) transport(life context.Context, l *link, stderr *tail) mcp.Transport {
	if c.server.Transport == Stdio {
		cmd := exec.CommandContext(life, c.server.Command[0], c.server.Command[1:]...)
		cmd.Env = environment(c.server.Env)
		cmd.Stderr = stderr
		cmd.WaitDelay = closeGrace
		return &mcp.CommandTransport{Command: cmd, TerminateDuration: closeGrace}
	}
	client := c.httpClient(life)
	l.http = client.Transport.(*roundTripper)
	if c.server.Transport == SSE {
		return &mcp.SSEClientTransport{Endpoint: c.server.URL, HTTPClient: client}
	}
	return &mcp.StreamableClientTransport{Endpoint: c.server.URL, HTTPClient: client}
}

// environment returns the variables that every program needs, overridden by Env. Our
// other variables may contain keys that the server must not see.
func environment(env []string) []string {
	var all []string
	for _, name := range []string{"HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TMPDIR", "USER"} {
		if value, ok := os.LookupEnv(name); ok {
			all = append(all, name+"="+value)
		}
	}
	return append(all, env...)
}

// lost reports whether the session is over.
func (l *link) lost() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// unseen reports whether the server cannot have acted on a call that failed.
func (l *link) unseen(err error, sent *delivery) bool {
	if errors.Is(err, mcp.ErrConnectionClosed) {
		return true
	}
	if l.http == nil {
		return false
	}
	d := sent.outcome()
	// A server that does not know the session any more says 404, some say 400.
	return !d.seen || d.undelivered || (l.session.ID() != "" && (d.status == 404 || d.status == 400))
}

// close ends the session and waits for it, at the latest by force.
func (l *link) close() {
	force := time.AfterFunc(2*closeGrace, func() { l.end(errClosed) })
	defer force.Stop()
	_ = l.session.Close() // how the server takes it changes nothing
	l.end(errClosed)
	<-l.ended
	l.closeIdle()
}

func (l *link) closeIdle() {
	if l.http != nil {
		l.http.closeIdle()
	}
}

// failed is the error for a failure of the server or of the way to it. It holds
// no secret of the server's configuration.
func (c *Connection) failed(ctx context.Context, d outcome, err error) error {
	place := fmt.Sprintf("MCP server %s (%s, %s) ", c.server.Name, c.server.Transport, c.host)
	e := &agent.Error{Op: "mcptool.Call", Kind: agent.ErrInternal}
	switch cause := context.Cause(ctx); {
	case errors.Is(err, errClosed) || errors.Is(cause, errClosed):
		e.Msg = place + "is not connected any more: " + errClosed.Error()
	case errors.Is(cause, context.DeadlineExceeded):
		e.Msg, e.Err = place+"did not answer in time", cause
	case cause != nil:
		e.Msg, e.Err = place+"was not waited for", cause
	case d.status >= 300:
		e.Msg = fmt.Sprintf("%sanswered %s", place, statusText(d.status))
	case d.foreign != "":
		e.Msg = place + "answered with " + d.foreign + ", which is not MCP: is the URL right?"
	case d.undelivered:
		e.Msg = place + "cannot be reached: " + c.secrets.Replace(rootCause(err).Error())
	default:
		e.Msg = place + "failed: " + c.secrets.Replace(err.Error())
	}
	return e
}

// tail keeps the last bytes that were written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-maxStderr):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.kept), ""))
}
