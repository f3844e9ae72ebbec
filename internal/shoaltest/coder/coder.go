package coder

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Coder is a coding agent with its processes and conversations. It is safe for concurrent use.
type Coder struct {
	play     func(*Turn)
	listener net.Listener
	running  sync.WaitGroup

	mu        sync.Mutex
	open      map[*process]bool
	pids      []int
	leaders   []int // of these, the ones that are not children of another
	most      int
	sessions  int
	prompts   []Prompt
	interrupt int
	closed    bool
}

// Prompt is a prompt that a process was sent.
type Prompt struct{ Session, Text string }

// New plays a coding agent until the test ends. play is called for each prompt, on a goroutine of its
// own; the turn ends when it returns.
func New(t testing.TB, play func(*Turn)) *Coder {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &Coder{play: play, listener: listener, open: map[*process]bool{}}
	c.running.Go(c.accept)
	t.Cleanup(c.stop)
	return c
}

// Flags are the flags with which shoal runner starts the agent.
func (c *Coder) Flags(t testing.TB) []string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"--program=" + program, "--program=" + flag + c.listener.Addr().String()}
}

// Prompts are the prompts so far.
func (c *Coder) Prompts() []Prompt {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.prompts)
}

// Interrupts counts the turns that the agent was asked to end.
func (c *Coder) Interrupts() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.interrupt
}

// Most is the largest number of processes that existed at the same time, without their children.
func (c *Coder) Most() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most
}

// Started counts the processes so far, without their children.
func (c *Coder) Started() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.leaders)
}

// Left lists the processes of the agent that still exist, children included, without those that
// serve now.
func (c *Coder) Left() (left []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	serving := []int{}
	for p := range c.open {
		serving = append(serving, p.pid, p.child)
	}
	for _, pid := range c.pids {
		if !slices.Contains(serving, pid) && exists(pid) {
			left = append(left, pid)
		}
	}
	return left
}

// exists reports whether a process exists and has not ended.
func exists(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(state, "Z") // nobody has asked for its end
}

func (c *Coder) stop() {
	_ = c.listener.Close()
	c.mu.Lock()
	c.closed = true
	for p := range c.open {
		_ = p.conn.Close()
	}
	c.mu.Unlock()
	c.running.Wait()
}

func (c *Coder) accept() {
	for {
		conn, err := c.listener.Accept()
		if err != nil {
			return // closed
		}
		c.running.Go(func() { c.serve(conn) })
	}
}

// message is a message of the protocol, of either side.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// serve plays one process until it ends.
func (c *Coder) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }() // the other side has ended
	in := lines(conn)
	p := &process{coder: c, conn: conn, gone: make(chan struct{}), asked: map[string]chan bool{}, passed: make(chan struct{})}
	if !in.Scan() {
		return
	}
	if _, err := fmt.Sscan(in.Text(), &p.pid, &p.child); err != nil || !c.enter(p) {
		return
	}
	for in.Scan() {
		var m message
		if in.Text() == said {
			p.pass()
		} else if json.Unmarshal(in.Bytes(), &m) == nil {
			p.receive(m)
		}
	}
	close(p.gone)
	p.turns.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, p)
}

// enter enters a new process, unless the test has ended.
func (c *Coder) enter(p *process) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.open[p], c.pids, c.leaders = true, append(c.pids, p.pid, p.child), append(c.leaders, p.pid)
		running := 0
		for _, pid := range c.leaders {
			if exists(pid) {
				running++
			}
		}
		c.most = max(c.most, running)
	}
	return !c.closed
}

// session returns the number of a new session.
func (c *Coder) session() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions++
	return fmt.Sprintf("session-%d", c.sessions)
}
