package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a server that this command has started.
type process struct {
	cmd    *exec.Cmd
	addr   string
	ended  chan struct{}
	output bytes.Buffer // of the process; read only after it has ended
	began  time.Time
	ready  time.Duration // from began to its first response
	ends   os.Signal     // the signal that ends it, SIGTERM if nil
}

func (p *process) pid() int    { return p.cmd.Process.Pid }
func (p *process) url() string { return "http://" + p.addr }

// freeAddr returns a local address with a free port.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// launch starts a server that is configured to listen on addr, and closes ended when its
// process has ended.
func launch(addr string, cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, addr: addr, ended: make(chan struct{}), began: time.Now()}
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = cmd.Wait() // ProcessState has the result
	}()
	return p, nil
}

// startWithin is the time within which a server must start.
const startWithin = 60 * time.Second

// awaitReady calls ask at the given interval until it succeeds, and sets ready. It stops a
// server that does not respond within startWithin.
func (p *process) awaitReady(ctx context.Context, every time.Duration, ask func() error) error {
	for time.Since(p.began) < startWithin {
		if ask() == nil {
			p.ready = time.Since(p.began)
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended during its start: %v\n%s", p.cmd, p.cmd.ProcessState, bytes.TrimSpace(p.output.Bytes()))
		case <-ctx.Done():
			p.stop()
			return context.Cause(ctx)
		case <-time.After(every):
		}
	}
	p.stop()
	return fmt.Errorf("%s did not respond within %v", p.cmd, startWithin)
}

// startProcess starts a program, replacing ADDR in its arguments by the address to listen
// on, and returns when GET /readyz succeeds.
func startProcess(ctx context.Context, program string, args ...string) (*process, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "ADDR", addr)
	}
	p, err := launch(addr, exec.Command(program, args...))
	if err != nil {
		return nil, err
	}
	asking := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return p, p.awaitReady(ctx, 200*time.Microsecond, func() error {
		res, err := asking.Get(p.url() + "/readyz")
		if err != nil {
			return err
		}
		_ = res.Body.Close() // only the status matters
		if res.StatusCode != http.StatusOK {
			return errors.New(res.Status)
		}
		return nil
	})
}

// stop ends the process and waits until it has ended. It kills a process that takes more
// than six seconds.
func (p *process) stop() {
	ends := p.ends
	if ends == nil {
		ends = syscall.SIGTERM
	}
	_ = p.cmd.Process.Signal(ends) // it may have ended already
	select {
	case <-p.ended:
	case <-time.After(6 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// startFloor starts the floor with a new database.
func (r *run) startFloor(ctx context.Context) (*process, error) {
	return startProcess(ctx, r.self, "floor", "-addr", "ADDR", "-db", r.newPath("floor")+".db")
}

// startSDK starts the server on the plain MCP SDK with a new database.
func (r *run) startSDK(ctx context.Context) (*process, error) {
	return startProcess(ctx, r.self, "sdk", "-addr", "ADDR", "-db", r.newPath("sdk")+".db")
}

// startShoal starts Shoal with a data directory. Unthrottled senders exceed the default
// rate limit of a caller, so the limit is raised.
func (r *run) startShoal(ctx context.Context, data string) (*process, error) {
	return startProcess(ctx, r.shoal, "serve", "--max-calls-per-second", "1000000", "--addr", "ADDR", "--data", data)
}

var pathCount int

// newPath returns a path in the run's directory that has not been used before.
func (r *run) newPath(name string) string {
	pathCount++
	return filepath.Join(r.dir, name+"-"+strconv.Itoa(pathCount))
}

// cpu returns the CPU time in seconds that a process and its children have used, with a
// resolution of 10 ms.
func cpu(pid int) float64 {
	total := ticks(pid)
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, child := range strings.Fields(string(children)) {
		if id, err := strconv.Atoi(child); err == nil {
			total += ticks(id)
		}
	}
	return total / 100
}

// ticks returns the sum of utime, stime, cutime and cstime of one process, in units of
// 10 ms.
func ticks(pid int) (total float64) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	for i := 11; i < 15 && i < len(fields); i++ {
		n, _ := strconv.ParseFloat(fields[i], 64)
		total += n
	}
	return total
}

// memory returns the proportional set size of a process in bytes.
func memory(pid int) (float64, error) {
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(rollup)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "Pss:" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			return kib * 1024, err
		}
	}
	return 0, errors.New("smaps_rollup has no Pss line")
}

// resident returns the resident set size of a process in bytes: the current one (VmRSS)
// or the peak (VmHWM).
func resident(pid int, which string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, is := strings.CutPrefix(line, which+":"); is {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib * 1024, err
		}
	}
	return 0, fmt.Errorf("/proc/%d/status has no %s line", pid, which)
}
