// Package coder plays coding agents for tests. Its program speaks the Agent Client Protocol and says
// what the test says: it passes on what it reads and writes. So the test decides what the agent does
// and when, and the program can be killed as a real one. It has a child, as many coding agents have.
//
//	func TestMain(m *testing.M) { coder.Main(); os.Exit(m.Run()) }
//
//	c := coder.New(t, func(turn *coder.Turn) { turn.Say("Good morning.") })
//	exec.Command("shoal", "runner", "acp", c.Flags()…)
package coder

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
)

const flag = "-coder="

// Main is the program of a coding agent, if this process was started as one; else it returns. The
// tests that use [New] call it at the beginning of TestMain.
func Main() {
	if len(os.Args) != 2 || !strings.HasPrefix(os.Args[1], flag) {
		return
	}
	if err := relay(strings.TrimPrefix(os.Args[1], flag)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// relay connects the input and the output of this process with the test.
func relay(addr string) error {
	child := exec.Command("sleep", "3600")
	if err := child.Start(); err != nil {
		return err
	}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(conn, os.Getpid(), child.Process.Pid); err != nil {
		return err
	}
	var mu sync.Mutex
	send := func(line []byte) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = conn.Write(append(line, '\n')) // without the test, this process ends
	}
	go func() {
		for in := lines(os.Stdin); in.Scan(); {
			send(in.Bytes())
		}
		_ = conn.(*net.TCPConn).CloseWrite() // the runner has closed it, or has ended: then the test closes its side
	}()
	for in := lines(conn); in.Scan(); {
		if _, err := os.Stdout.Write(append(in.Bytes(), '\n')); err != nil {
			return err
		}
		send([]byte(said))
	}
	return nil
}

// said confirms that a line of the test was written: a kill does not take it back.
const said = "said"

func lines(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 8<<20)
	return s
}
