package runner

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/harness/process"
)

// hungry is a session with a real process, whose child holds memory: the wrapper itself is small.
type hungry struct {
	*session
	*process.Process
}

func (h *hungry) Done() <-chan struct{} { return h.Process.Done() }

func (h *hungry) Close() error {
	h.Stop()
	return h.Stdout.Close()
}

// eat starts a process whose child holds so many MiB.
func eat(t *testing.T, name string, mebibytes int) *hungry {
	t.Helper()
	const child = `x=$(head -c $0 /dev/zero | tr '\0' x); echo ready; read _ <&3`
	p, err := process.Start([]string{"sh", "-c", `exec 3<&0; sh -c "$1" "$0"; true`, fmt.Sprint(mebibytes << 20), child}, t.TempDir(), os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(p.Stdout).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the process printed %q, %v", line, err)
	}
	return &hungry{&session{name: name, done: make(chan struct{})}, p}
}

// Idle programs end when they use too much, the longest unused first, and with all that they have
// started. Those in use stay, and count.
func TestMemoryIsLimited(t *testing.T) {
	for _, c := range []struct {
		limits memoryLimits
		want   []string
	}{
		{memoryLimits{each: 40 << 20}, []string{"old: one program may use 40MiB"}},
		{memoryLimits{total: 100 << 20}, []string{"old: all together may use 100MiB"}},
		{memoryLimits{total: 20 << 20}, []string{"old: all together may use 20MiB", "new: all together may use 20MiB"}},
		{memoryLimits{each: 1 << 30, total: 2 << 30}, nil},
	} {
		p := newPool(4, time.Hour)
		programs := map[string]*hungry{}
		for _, one := range []struct {
			name      string
			mebibytes int
			busy      bool
		}{{"old", 60, false}, {"new", 20, false}, {"busy", 70, true}} {
			h, id := eat(t, one.name, one.mebibytes), conversation{"scout", one.name}
			programs[one.name] = h
			p.open[id] = &pooled{session: h, busy: true}
			if !one.busy {
				p.release(id, true)
			}
		}
		used, err := process.Resident()
		if err != nil {
			t.Fatal(err)
		}
		if old := used[programs["old"].Group()]; old < 60<<20 || old > 200<<20 {
			t.Errorf("a program whose child holds 60 MiB uses %d MiB", old>>20)
		}
		var got []string
		p.limitMemory(c.limits, used, func(id conversation, _ Memory, why string) { got = append(got, id.name+": "+why) })
		if !slices.Equal(got, c.want) {
			t.Errorf("with %+v these are closed: %q, want %q", c.limits, got, c.want)
		}
		p.closing.Wait()
		for name, h := range programs {
			closed := slices.ContainsFunc(c.want, func(line string) bool { return strings.HasPrefix(line, name+":") })
			if ended(h) != closed {
				t.Errorf("with %+v: %s has ended: %v", c.limits, name, ended(h))
			}
		}
		p.stop()
	}
}

// The goroutine that measures closes what is too large, and says so.
func TestMemoryIsWatched(t *testing.T) {
	lines := make(chan string, 10)
	r, err := New(Options{
		State: t.TempDir() + "/conversations.json", MaxProcesses: 2, Idle: time.Hour, MaxProcessMemory: 5 << 20,
		Log: func(text string) { lines <- text },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	h := eat(t, "lab", 30)
	r.pool.mu.Lock()
	r.pool.open[conversation{"scout", "lab"}] = &pooled{session: h, busy: true}
	r.pool.mu.Unlock()
	r.pool.release(conversation{"scout", "lab"}, true)
	if line := <-lines; !strings.HasPrefix(line, "scout is closed in lab: its program used ") || !strings.HasSuffix(line, " MiB, and one program may use 5MiB; the next mention resumes it") {
		t.Errorf("the runner says %q", line)
	}
	<-h.Done()
}

// An amount is written as it is read.
func TestMemoryIsAText(t *testing.T) {
	for _, text := range []string{"1MiB", "512MiB", "1.25GiB", "3GiB", "16KiB"} {
		var m Memory
		if err := m.UnmarshalText([]byte(text)); err != nil || m.String() != text {
			t.Errorf("%s is read as %s, %v", text, m, err)
		}
	}
	for _, text := range []string{"", "1", "MiB", "-1GiB", "1GB", "1e300GiB", "NaNGiB"} {
		var m Memory
		if err := m.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %s", text, m)
		}
	}
}
