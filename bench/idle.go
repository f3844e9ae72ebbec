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
	"strconv"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
)

const (
	idleWaiters = 1000
	idleRounds  = 2
	idleSettle  = 2 * time.Second
	idleWoken   = 20
	// idleRoom is how many waiters share a space.
	idleRoom = 20

	kibEach  = "KiB each"
	kibTotal = "MiB in all"
)

// idle measures what a server pays for a wait in which nothing happens.
func (r *run) idle(ctx context.Context) error {
	t := r.report.add(&table{
		title: fmt.Sprintf("Idle waits, %d", idleWaiters),
		note: "Memory (proportional set size) of the server's process before and two seconds after that many waits were opened, " +
			"each by its own client on its own connection; CPU is what it took to open one. MCP clients initialize a session first.",
		ratios: []ratio{{kibEach, floorRow, "memory ÷ floor"}, {kibEach, sdkRow, "memory ÷ SDK"}},
		shown:  []string{kibEach, kibTotal, cpuCol},
	})
	data := r.fresh("shoal")
	w, err := r.idleWorld(ctx, data)
	if err != nil {
		return err
	}
	for range min(r.rounds, idleRounds) {
		for _, in := range r.idlers(data, w) {
			if !r.wants(in.name) {
				continue
			}
			if err := in.measure(ctx, t.row(in.name)); err != nil {
				return fmt.Errorf("%s: %w", in.name, err)
			}
		}
	}
	r.report.atMost(24, "KiB", t.row(restRow).value(kibEach), "Idle wait, REST")
	r.report.atMost(1.1, "× SDK", t.ratio(kibEach, mcpRow, sdkRow), "Idle wait, MCP, memory")
	return nil
}

// idler opens waits at one kind of server.
type idler struct {
	name  string
	begin func(context.Context) (*process, error)
	// open sends the wait of waiter i on its own connection; what it reads there
	// comes before the wait's answer.
	open func(p *process, c net.Conn, in *bufio.Reader, i int) error
	wake func(ctx context.Context, p *process, i int, text string) error
}

func (r *run) idlers(data string, w *world) []idler {
	beginShoal := func(ctx context.Context) (*process, error) {
		copied := r.fresh("shoal") // so that no wait finds what another round has sent
		if err := os.CopyFS(copied, os.DirFS(data)); err != nil {
			return nil, err
		}
		return r.beginShoal(ctx, copied)
	}
	wakeShoal := func(ctx context.Context, p *process, i int, text string) error {
		body, err := json.Marshal(post{text, []shoal.EntityID{agentID(i)}})
		if err == nil {
			_, _, err = newWire(p).do(ctx, http.MethodPost, sessionPath+"/spaces/"+string(pair(i/idleRoom))+"/messages", restHeader(w.keys[i^1]), body)
		}
		return err
	}
	return []idler{
		{
			name: floorRow, begin: r.beginFloor,
			open: func(_ *process, c net.Conn, _ *bufio.Reader, i int) error {
				return request(c, http.MethodGet, "/wait?id="+strconv.Itoa(i), http.Header{}, nil)
			},
			wake: func(ctx context.Context, p *process, i int, text string) error {
				return floorSide{newWire(p)}.send(ctx, i, text, true)
			},
		},
		{
			name: sdkRow, begin: r.beginSDK,
			open: func(_ *process, c net.Conn, in *bufio.Reader, i int) error {
				return openTool(c, in, "", sdkWait{strconv.Itoa(i)})
			},
			wake: func(ctx context.Context, p *process, i int, text string) error {
				s := &sdkSide{mcpSide{wire: newWire(p)}}
				if err := s.join(ctx, ""); err != nil {
					return err
				}
				_, err := s.tool(ctx, 0, "send_message", sdkSend{strconv.Itoa(i), text})
				return err
			},
		},
		{
			name: restRow, begin: beginShoal, wake: wakeShoal,
			open: func(_ *process, c net.Conn, _ *bufio.Reader, i int) error {
				body, err := json.Marshal(longWait{Kind: shoal.WaitMentions, TimeoutMs: waitMs})
				if err != nil {
					return err
				}
				return request(c, http.MethodPost, sessionPath+"/entities/"+string(agentID(i))+"/wait", restHeader(w.keys[i]), body)
			},
		},
		{
			name: mcpRow, begin: beginShoal, wake: wakeShoal,
			open: func(_ *process, c net.Conn, in *bufio.Reader, i int) error {
				return openTool(c, in, w.keys[i], longWait{TimeoutMs: waitMs})
			},
		},
	}
}

// idleWorld makes the agents in a life of the server that is not measured: what
// making them costs is no part of what waiting costs.
func (r *run) idleWorld(ctx context.Context, data string) (*world, error) {
	p, err := r.beginShoal(ctx, data)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	admin, _, err := adminOf(p)
	if err != nil {
		return nil, err
	}
	w := &world{admin: admin, session: admin.Session(shoal.DefaultSession), keys: make([]string, idleWaiters)}
	if err := w.mint(ctx); err != nil {
		return nil, err
	}
	for i := range idleWaiters / idleRoom {
		var members []shoal.EntityID
		for n := range idleRoom {
			members = append(members, agentID(i*idleRoom+n))
		}
		if _, err := w.session.CreateSpace(ctx, shoal.NewSpace{ID: pair(i), Name: "Room", Members: members}); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// measure is one round with a server of its own.
func (in idler) measure(ctx context.Context, into *row) error {
	p, err := in.begin(ctx)
	if err != nil {
		return err
	}
	defer p.stop()
	if !pause(ctx, idleSettle/2) {
		return context.Cause(ctx)
	}
	before, err := memory(p.pid())
	if err != nil {
		return err
	}
	used := cpu(p.pid())
	conns, err := in.openAll(p)
	defer func() {
		for _, c := range conns {
			if c != nil {
				_ = c.Close() // nothing more is wanted of it
			}
		}
	}()
	if err != nil {
		return err
	}
	if !pause(ctx, idleSettle) {
		return context.Cause(ctx)
	}
	into.cpu, into.ops = into.cpu+cpu(p.pid())-used, into.ops+idleWaiters
	after, err := memory(p.pid())
	if err != nil {
		return err
	}
	into.add(kibEach, (after-before)/1024/idleWaiters)
	into.add(kibTotal, after/(1<<20))
	for _, i := range rand.Perm(idleWaiters)[:idleWoken] {
		if err := in.proveWait(ctx, p, conns[i], i); err != nil {
			return fmt.Errorf("waiter %d: %w", i, err)
		}
	}
	return nil
}

func (in idler) openAll(p *process) ([]net.Conn, error) {
	conns := make([]net.Conn, idleWaiters)
	failed := make([]error, 8)
	var opening sync.WaitGroup
	for k := range failed {
		opening.Go(func() {
			for i := k; i < len(conns) && failed[k] == nil; i += len(failed) {
				if conns[i], failed[k] = net.Dial("tcp", p.addr); failed[k] == nil {
					failed[k] = in.open(p, conns[i], bufio.NewReader(conns[i]), i)
				}
			}
		})
	}
	opening.Wait()
	return conns, errors.Join(failed...)
}

// proveWait wakes one of the waiters: they do wait.
func (in idler) proveWait(ctx context.Context, p *process, c net.Conn, i int) error {
	message := text()
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
			return fmt.Errorf("%w behind %q", err, got)
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

// openTool initializes a session and calls wait_for_mentions in it.
func openTool(c net.Conn, in *bufio.Reader, key string, args any) error {
	header := mcpHeader(key)
	for _, message := range []string{mcpInitialize, mcpInitialized} {
		if err := request(c, http.MethodPost, "/mcp", header, []byte(message)); err != nil {
			return err
		}
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return err
		}
		answer, err := io.ReadAll(res.Body)
		_ = res.Body.Close() // it was read
		if err != nil || res.StatusCode >= http.StatusMultipleChoices {
			return errors.Join(err, fmt.Errorf("%s: %s %s", message, res.Status, answer))
		}
		if id := res.Header.Get("Mcp-Session-Id"); id != "" {
			header.Set("Mcp-Session-Id", id)
		}
	}
	body, err := toolCall(1, "wait_for_mentions", args)
	if err != nil {
		return err
	}
	return request(c, http.MethodPost, "/mcp", header, body)
}
