package background_test

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/internal/background"
)

// TestMain is also the server that the tests start: it announces itself and ends when
// it is asked to, or at once.
func TestMain(m *testing.M) {
	args, err := background.Given(os.Args[1:])
	switch {
	case err != nil:
		os.Exit(3)
	case len(args) == 2 && args[0] == "serve":
		os.Exit(serve(args[1]))
	case len(args) == 1 && args[0] == "fail":
		os.Exit(2)
	}
	os.Exit(m.Run())
}

func serve(data string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	r := background.Record{PID: os.Getpid(), URL: "http://there", Version: os.Getenv("GIVEN"), Manager: background.Process}
	a, announced, err := background.Announce(ctx, data, r)
	if err != nil || !announced {
		return 4
	}
	defer a.End()
	<-ctx.Done()
	return 0
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func isReady(context.Context, background.Record) error { return nil }

// A process is started with its arguments and variables, found, started again and
// stopped; nothing of it is left.
func TestAProcessInTheBackground(t *testing.T) {
	ctx := within(t)
	s := background.Service{Data: t.TempDir()}
	if _, alive, err := s.Running(); err != nil || alive {
		t.Fatalf("before: alive %v, %v", alive, err)
	}
	d := background.Definition{Manager: background.Process, Program: self(t), Args: []string{"serve", s.Data}, Env: map[string]string{"GIVEN": "1.2.3"}}
	if err := s.Start(ctx, d); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Halt(context.WithoutCancel(ctx)) }) // it is stopped below if all goes well
	first, err := s.AwaitReady(ctx, isReady)
	if err != nil || first.Version != "1.2.3" || first.URL != "http://there" {
		t.Fatalf("%+v, %v", first, err)
	}
	if _, announced, err := background.Announce(ctx, s.Data, background.Record{}); err != nil || announced {
		t.Errorf("another server took its place: %v", err)
	}
	if err := s.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	second, err := s.AwaitReady(ctx, isReady)
	if err != nil || second.PID == first.PID {
		t.Fatalf("%+v, %v; it is to be another process than %d", second, err, first.PID)
	}
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if _, alive, err := s.Running(); err != nil || alive {
		t.Errorf("after: alive %v, %v", alive, err)
	}
	if _, defined, err := s.Definition(); err != nil || defined {
		t.Errorf("after: defined %v, %v", defined, err)
	}
	if err := s.Stop(ctx); err != nil {
		t.Errorf("stopping again: %v", err)
	}
}

// A server that ends at once is noticed at once, and one that is never ready in time.
func TestAServerThatIsNotReady(t *testing.T) {
	ctx := within(t)
	s := background.Service{Data: t.TempDir()}
	if err := s.Start(ctx, background.Definition{Manager: background.Process, Program: self(t), Args: []string{"fail"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AwaitReady(ctx, isReady); !errors.Is(err, background.ErrEnded) {
		t.Errorf("got %v, want ErrEnded", err)
	}
	a, announced, err := background.Announce(ctx, s.Data, background.Record{URL: "http://there"})
	if err != nil || !announced {
		t.Fatalf("%v, %v", announced, err)
	}
	defer a.End()
	late, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	cause := errors.New("not yet")
	if _, err := s.AwaitReady(late, func(context.Context, background.Record) error { return cause }); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

func TestOneCommandAtATime(t *testing.T) {
	s := background.Service{Data: t.TempDir()}
	unlock, err := s.Lock(within(t))
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Lock(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second command: %v", err)
	}
	unlock()
	again, err := s.Lock(within(t))
	if err != nil {
		t.Fatal(err)
	}
	again()
}

// The log is moved aside when it has become long.
func TestTheLogIsBounded(t *testing.T) {
	ctx := within(t)
	s := background.Service{Data: t.TempDir()}
	if err := os.WriteFile(s.LogPath(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(s.LogPath(), 17<<20); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(ctx, background.Definition{Manager: background.Process, Program: self(t), Args: []string{"fail"}}); err != nil {
		t.Fatal(err)
	}
	old, err := os.Stat(s.LogPath() + ".1")
	if err != nil || old.Size() != 17<<20 {
		t.Errorf("%v, %v", old, err)
	}
	if log, err := os.Stat(s.LogPath()); err != nil || log.Size() > 1<<20 {
		t.Errorf("%v, %v", log, err)
	}
}

var awkward = background.Definition{Program: `/opt/a b/$HOME/50%/shoal`}

// systemd reads the unit and has nothing to say about it, whatever the paths are.
func TestSystemdUnderstandsTheUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Fatalf("%v; install it with: apt-get install systemd (`make setup` does)", err)
	}
	dir := filepath.Join(t.TempDir(), "data of \"50%\" $HOME")
	s := background.Service{Data: dir}
	path := filepath.Join(t.TempDir(), "shoal-test.service")
	for _, d := range []background.Definition{{Program: self(t)}, awkward} {
		if err := os.WriteFile(path, []byte(background.SystemdUnit(s, d)), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), analyze, "verify", "--user", "--man=no", path)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir(), "SYSTEMD_UNIT_PATH="+filepath.Dir(path)+":")
		out, err := cmd.CombinedOutput()
		text := string(out)
		if d.Program == awkward.Program { // no such program is there, but its name is understood
			if !strings.Contains(text, "Command "+awkward.Program+" is not executable") {
				t.Errorf("the program is not understood: %s", text)
			}
			continue
		}
		if err != nil || strings.Contains(text, "shoal-test.service") {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

func TestTheJobOfLaunchdIsWellFormed(t *testing.T) {
	s := background.Service{Data: `/data/<&>`}
	job, err := background.LaunchdJob(s, awkward)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	decoder := xml.NewDecoder(strings.NewReader(job))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, job)
		}
		if start, is := token.(xml.StartElement); is && start.Name.Local == "string" {
			var word string
			if err := decoder.DecodeElement(&word, &start); err != nil {
				t.Fatal(err)
			}
			words = append(words, word)
		}
	}
	if diff := cmp.Diff([]string{awkward.Program, "__service", s.Data, s.LogPath(), s.LogPath()}, words[1:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// With systemd, the unit is written, started and, in the end, removed. A script replaces
// systemctl: it records its arguments and starts the program of the unit.
func TestTheCallsOfSystemd(t *testing.T) {
	ctx := within(t)
	bin, home := t.TempDir(), t.TempDir()
	script := `#!/bin/sh
echo "$*" | sed 's/shoal-[0-9a-f]*/NAME/' >>"` + bin + `/calls"
case "$*" in
*restart*) exec sh -c "$(sed -n 's/^ExecStart=//p' "` + home + `"/systemd/user/*.service) >/dev/null 2>&1 &" ;;
*ActiveState*) echo active ;;
esac
case "$*" in *disable*) kill "$(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "` + home + `/data/server.json")" ;; esac
`
	if err := os.WriteFile(filepath.Join(bin, "systemctl"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("XDG_CONFIG_HOME", home)
	s := background.Service{Data: filepath.Join(home, "data")}
	if err := os.Mkdir(s.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := background.Detect(ctx); got != background.Systemd {
		t.Fatalf("Detect says %s", got)
	}
	d := background.Definition{Manager: background.Systemd, Program: self(t), Args: []string{"serve", s.Data}}
	if err := s.Start(ctx, d); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AwaitReady(ctx, isReady); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(home, "systemd", "user", "*")); err != nil || len(left) > 0 {
		t.Errorf("files left: %q, %v", left, err)
	}
	calls, err := os.ReadFile(filepath.Join(bin, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, call := range strings.Split(strings.TrimSpace(string(calls)), "\n") {
		if !strings.Contains(call, "ActiveState") { // as often as it takes
			seen = append(seen, call)
		}
	}
	if diff := cmp.Diff([]string{
		"--user show --property=Version", "--user daemon-reload", "--user reset-failed NAME.service", "--user enable NAME.service", "--user restart NAME.service",
		"--user disable --now NAME.service", "--user daemon-reload",
	}, seen); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
