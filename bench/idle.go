package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/bench/driver"
	"github.com/shoal-dev/shoal/bench/peer"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

const (
	idleWaiters = 1000
	idleRounds  = 2
	idleSettle  = 2 * time.Second
	idleWoken   = 20
	// idleRoom is the number of waiters in a space.
	idleRoom = 20

	kibEach  = "KiB per wait"
	kibTotal = "MiB total"
)

// idle measures the cost of an idle wait to a server.
func (r *run) idle(ctx context.Context) error {
	t := r.Report.Add(&report.Table{
		Title: fmt.Sprintf("Idle waits, %d", idleWaiters),
		Note: "Growth of the server's memory (proportional set size) from before that many waits are opened until two seconds after, " +
			"each wait by a client of its own on a connection of its own; CPU is the cost of opening one. MCP clients initialize an MCP session first.",
		Ratios: []report.Ratio{{Metric: kibEach, Base: peer.FloorRow, Heading: "memory ÷ floor"}, {Metric: kibEach, Base: peer.SDKRow, Heading: "memory ÷ SDK"}, {Metric: kibEach, Base: peer.TSRow, Heading: "memory ÷ TS SDK"}},
		Shown:  []string{kibEach, kibTotal, report.CPUMicros},
	})
	data := r.NewPath("shoal")
	w, err := r.idleWorld(ctx, data)
	if err != nil {
		return err
	}
	for range min(r.Rounds, idleRounds) {
		for _, in := range r.idlers(data, w) {
			if !r.Wants(in.name) {
				continue
			}
			err := in.measure(ctx, r.Run, t.Row(in.name))
			var missing process.MissingError
			if errors.As(err, &missing) {
				r.Log.Print(err)
				continue
			}
			if err != nil {
				return fmt.Errorf("%s: %w", in.name, err)
			}
		}
	}
	r.Report.AtMost(24, "KiB", t.Row(restRow).Value(kibEach), "Idle wait, REST")
	r.Report.AtMost(1.1, "× SDK", t.Ratio(kibEach, mcpRow, peer.SDKRow), "Idle wait, MCP, memory")
	r.Report.AtMost(24, "KiB", t.Row(mcpRow).Value(kibEach), "Idle wait, MCP").WithTarget(12)
	return nil
}

// idler opens waits at one kind of server.
type idler struct {
	name  string
	start func(context.Context, *driver.Run) (*process.Process, error)
	// open sends the wait of waiter i on its own connection. It may read the responses
	// of preceding requests from in, but not the response of the wait.
	open func(p *process.Process, c net.Conn, in *bufio.Reader, i int) error
	wake func(ctx context.Context, p *process.Process, i int, text string) error
	// wakeAll wakes all waiters of the crowd once; nil where only some are woken.
	wakeAll func(ctx context.Context, p *process.Process) error
}

func (r *run) idlers(data string, w *load.World) []idler {
	startCopy := func(ctx context.Context, r *driver.Run) (*process.Process, error) {
		copied := r.NewPath("shoal") // so that no wait finds messages of another round
		if err := os.CopyFS(copied, os.DirFS(data)); err != nil {
			return nil, err
		}
		// CopyFS adds rights, and the server refuses key files that others can read.
		for _, key := range []string{"admin.key", "operator.key"} {
			if err := os.Chmod(filepath.Join(copied, key), 0o600); err != nil {
				return nil, err
			}
		}
		return r.StartShoal(ctx, copied)
	}
	wakeShoal := func(ctx context.Context, p *process.Process, i int, text string) error {
		rest := load.REST{Wire: load.NewWire(p.URL()), World: w}
		defer rest.Close()
		return rest.PostTo(ctx, i^1, load.SpaceID(i/idleRoom), text, []shoal.EntityID{load.AgentID(i)})
	}
	return []idler{
		{
			name: peer.FloorRow, start: peer.StartFloor,
			open: func(_ *process.Process, c net.Conn, _ *bufio.Reader, i int) error {
				return request(c, http.MethodGet, "/wait?id="+strconv.Itoa(i), http.Header{}, nil)
			},
			wake: func(ctx context.Context, p *process.Process, i int, text string) error {
				return peer.NewFloor(p).Send(ctx, i, text, true)
			},
		},
		sdkIdler(peer.SDKRow, peer.StartSDK),
		sdkIdler(peer.TSRow, peer.StartTS),
		{
			name: restRow, start: startCopy, wake: wakeShoal,
			open: func(_ *process.Process, c net.Conn, _ *bufio.Reader, i int) error {
				body, err := json.Marshal(load.Waiting{Kind: shoal.WaitMentions, TimeoutMs: load.WaitMs})
				if err != nil {
					return err
				}
				return request(c, http.MethodPost, w.WaitPath(i), load.Header(w.Keys[i]), body)
			},
		},
		{
			name: mcpRow, start: startCopy, wake: wakeShoal,
			open: func(_ *process.Process, c net.Conn, in *bufio.Reader, i int) error {
				return openTool(c, in, w.Keys[i], load.Waiting{TimeoutMs: load.WaitMs})
			},
			wakeAll: func(ctx context.Context, p *process.Process) error {
				rest := load.RESTOf(load.NewWire(p.URL()), w, 0)
				defer rest.Close()
				return wakeRooms(ctx, rest)
			},
		},
	}
}

// sdkIdler returns an idler for a server with two trivial tools.
func sdkIdler(name string, start func(context.Context, *driver.Run) (*process.Process, error)) idler {
	return idler{
		name: name, start: start,
		open: func(_ *process.Process, c net.Conn, in *bufio.Reader, i int) error {
			return openTool(c, in, "", peer.WaitInput{ID: strconv.Itoa(i)})
		},
		wake: func(ctx context.Context, p *process.Process, i int, text string) error {
			s := peer.NewSDK(p, name)
			if err := s.Prepare(ctx, 1); err != nil {
				return err
			}
			_, err := s.Tool(ctx, 0, "send_message", peer.SendInput{To: strconv.Itoa(i), Content: text})
			return err
		},
	}
}

// idleWorld creates the agents with a server process of its own, which is not measured:
// the cost of creating them is not part of the cost of waiting.
func (r *run) idleWorld(ctx context.Context, data string) (*load.World, error) {
	p, err := r.StartShoal(ctx, data)
	if err != nil {
		return nil, err
	}
	defer p.Stop()
	w, err := newWorld(ctx, p, idleWaiters)
	if err != nil {
		return nil, err
	}
	return w, w.Rooms(ctx, idleWaiters/idleRoom, idleRoom)
}

// measure runs one round with a server of its own.
func (in idler) measure(ctx context.Context, r *driver.Run, into *report.Row) error {
	p, err := in.start(ctx, r)
	if err != nil {
		return err
	}
	defer p.Stop()
	if !load.Pause(ctx, idleSettle/2) {
		return context.Cause(ctx)
	}
	before, err := process.Memory(p.PID())
	if err != nil {
		return err
	}
	used := process.CPU(p.PID())
	conns, err := in.openAll(p)
	defer func() {
		for _, c := range conns {
			if c != nil {
				_ = c.Close() // not used any more
			}
		}
	}()
	if err != nil {
		return err
	}
	if !load.Pause(ctx, idleSettle) {
		return context.Cause(ctx)
	}
	into.AddCPU(process.CPU(p.PID())-used, idleWaiters)
	after, err := process.Memory(p.PID())
	if err != nil {
		return err
	}
	into.Add(kibEach, (after-before)/1024/idleWaiters)
	into.Add(kibTotal, after/(1<<20))
	for _, i := range rand.Perm(idleWaiters)[:idleWoken] {
		if err := in.verifyWait(ctx, p, conns[i], i); err != nil {
			return fmt.Errorf("waiter %d: %w", i, err)
		}
	}
	return nil
}

func (in idler) openAll(p *process.Process) ([]net.Conn, error) {
	conns := make([]net.Conn, idleWaiters)
	failed := make([]error, 8)
	var opening sync.WaitGroup
	for k := range failed {
		opening.Go(func() {
			for i := k; i < len(conns) && failed[k] == nil; i += len(failed) {
				if conns[i], failed[k] = net.Dial("tcp", p.Addr); failed[k] == nil {
					failed[k] = in.open(p, conns[i], bufio.NewReader(conns[i]), i)
				}
			}
		})
	}
	opening.Wait()
	return conns, errors.Join(failed...)
}

// verifyWait wakes waiter i and checks that it gets the message, which shows that it
// waits.
func (in idler) verifyWait(ctx context.Context, p *process.Process, c net.Conn, i int) error {
	message := load.Text()
	if err := in.wake(ctx, p, i, message); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	var got []byte
	for buf := make([]byte, 4096); !bytes.Contains(got, []byte(message)); {
		n, err := c.Read(buf)
		got = append(got, buf[:n]...)
		if err != nil {
			return fmt.Errorf("%w after %q", err, got)
		}
	}
	return nil
}

// request writes one request.
func request(c net.Conn, method, path string, header http.Header, body []byte) error {
	req, err := http.NewRequest(method, "http://"+c.RemoteAddr().String()+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = header
	return req.Write(c)
}

// openTool initializes an MCP session and sends a call of wait_for_mentions in it.
func openTool(c net.Conn, in *bufio.Reader, key string, args any) error {
	header := load.MCPHeader(key)
	for _, message := range []string{load.MCPInitialize, load.MCPInitialized} {
		if err := request(c, http.MethodPost, "/mcp", header, []byte(message)); err != nil {
			return err
		}
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return err
		}
		answer, err := io.ReadAll(res.Body)
		_ = res.Body.Close() // read completely
		if err != nil || res.StatusCode >= http.StatusMultipleChoices {
			return errors.Join(err, fmt.Errorf("%s: %s %s", message, res.Status, answer))
		}
		if id := res.Header.Get("Mcp-Session-Id"); id != "" {
			header.Set("Mcp-Session-Id", id)
		}
	}
	body, err := load.ToolCall(1, "wait_for_mentions", args)
	if err != nil {
		return err
	}
	return request(c, http.MethodPost, "/mcp", header, body)
}
