// Package process starts the processes that the benchmarks measure, and reads what the
// kernel knows of their CPU time and memory.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is a server that this command has started.
type Process struct {
	Cmd        *exec.Cmd
	Addr       string
	Ended      chan struct{}
	output     bytes.Buffer // of the process; read only after it has ended
	began      time.Time
	Ready      time.Duration // from began to its first response
	StopSignal os.Signal     // the signal that ends it, SIGTERM if nil
}

// Output returns what the process has written, without surrounding white space. It is
// called only after the process has ended.
func (p *Process) Output() []byte { return bytes.TrimSpace(p.output.Bytes()) }

// PID returns the id of the process.
func (p *Process) PID() int { return p.Cmd.Process.Pid }

// URL returns the URL of the server.
func (p *Process) URL() string { return "http://" + p.Addr }

// FreeAddr returns a local address with a free port.
func FreeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Launch starts a server that is configured to listen on addr, and closes ended when its
// process has ended.
func Launch(addr string, cmd *exec.Cmd) (*Process, error) {
	p := &Process{Cmd: cmd, Addr: addr, Ended: make(chan struct{}), began: time.Now()}
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.Ended)
		_ = cmd.Wait() // ProcessState has the result
	}()
	return p, nil
}

// StartWithin is the time within which a server must start.
const StartWithin = 60 * time.Second

// AwaitReady calls ask at the given interval until it succeeds, and sets ready. It stops a
// server that does not respond within startWithin.
func (p *Process) AwaitReady(ctx context.Context, every time.Duration, ask func() error) error {
	for time.Since(p.began) < StartWithin {
		if ask() == nil {
			p.Ready = time.Since(p.began)
			return nil
		}
		select {
		case <-p.Ended:
			return fmt.Errorf("%s ended during its start: %v\n%s", p.Cmd, p.Cmd.ProcessState, p.Output())
		case <-ctx.Done():
			p.Stop()
			return context.Cause(ctx)
		case <-time.After(every):
		}
	}
	p.Stop()
	return fmt.Errorf("%s did not respond within %v", p.Cmd, StartWithin)
}

// Start starts a program, replacing ADDR in its arguments by the address to listen
// on, and returns when GET /readyz succeeds.
func Start(ctx context.Context, program string, args ...string) (*Process, error) {
	addr, err := FreeAddr()
	if err != nil {
		return nil, err
	}
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "ADDR", addr)
	}
	p, err := Launch(addr, exec.Command(program, args...))
	if err != nil {
		return nil, err
	}
	asking := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return p, p.AwaitReady(ctx, 200*time.Microsecond, func() error {
		res, err := asking.Get(p.URL() + "/readyz")
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

// Stop ends the process and waits until it has ended. It kills a process that takes more
// than six seconds.
func (p *Process) Stop() {
	ends := p.StopSignal
	if ends == nil {
		ends = syscall.SIGTERM
	}
	_ = p.Cmd.Process.Signal(ends) // it may have ended already
	select {
	case <-p.Ended:
	case <-time.After(6 * time.Second):
		_ = p.Cmd.Process.Kill()
		<-p.Ended
	}
}

// CPU returns the CPU time in seconds that a process and its children have used, with a
// resolution of 10 ms.
func CPU(pid int) float64 {
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

// Memory returns the proportional set size of a process in bytes.
func Memory(pid int) (float64, error) {
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

// Resident returns the resident set size of a process in bytes: the current one (VmRSS)
// or the peak (VmHWM).
func Resident(pid int, which string) (float64, error) {
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

// Written returns the number of bytes that a process has caused to be written to storage.
func Written(pid int) (float64, error) {
	io, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(io)) {
		if rest, is := strings.CutPrefix(line, "write_bytes:"); is {
			return strconv.ParseFloat(strings.TrimSpace(rest), 64)
		}
	}
	return 0, fmt.Errorf("/proc/%d/io has no write_bytes line", pid)
}

// LoadAverage returns the number of processes that used or awaited a processor in the last
// minute, on average.
func LoadAverage() float64 {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	n, _ := strconv.ParseFloat(first, 64) // 0 where the kernel does not report it
	return n
}

// OwnCPU returns the CPU time of this process in seconds, with the full resolution of the
// kernel.
func OwnCPU() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // cannot fail for the process itself
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
