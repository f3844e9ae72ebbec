package upgrade_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/background"
)

// installed is a Shoal that somebody has installed and started with `shoal up`.
type installed struct {
	t             *testing.T
	program, data string
	url           string
	service       background.Service
	from          *releases
	env           []string
}

// install installs the old version and starts it, on an address that stays.
func install(t *testing.T, from *releases) *installed {
	t.Helper()
	dir := t.TempDir()
	i := &installed{t: t, program: filepath.Join(dir, "bin", "shoal"), data: filepath.Join(dir, "data"), from: from}
	i.service = background.Service{Data: i.data}
	content, err := os.ReadFile(built[oldVersion].Path())
	if err == nil {
		err = errors.Join(os.Mkdir(filepath.Dir(i.program), 0o755), os.WriteFile(i.program, content, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	i.url = "http://" + addr
	i.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + os.TempDir(), "SHOAL_DATA=" + i.data, "SHOAL_ADDR=" + addr, "SHOAL_RELEASES=" + from.url,
	}
	i.runs("up", "--no-service")
	i.runs("spaces", "create", "Log", "--id", "log", "--url", i.url)
	t.Cleanup(func() {
		if out, err := i.command("down").CombinedOutput(); err != nil {
			t.Errorf("down: %v\n%s", err, out)
		}
	})
	return i
}

func (i *installed) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(i.t.Context()), patience)
	i.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, i.program, args...)
	cmd.Env = i.env
	return cmd
}

// upgrade is the command that upgrades, with the key of the releases.
func (i *installed) upgrade(args ...string) []string {
	return append([]string{"upgrade", "--signed-by", i.from.key}, args...)
}

// runs runs a command, which must succeed, and returns what it prints.
func (i *installed) runs(args ...string) string {
	i.t.Helper()
	cmd := i.command(args...)
	var notes bytes.Buffer
	cmd.Stderr = &notes
	out, err := cmd.Output()
	if err != nil {
		i.t.Fatalf("shoal %s: %v\n%s%s", strings.Join(args, " "), err, out, &notes)
	}
	return string(out)
}

// fails runs a command, which must fail with all of the texts, and returns what it says.
func (i *installed) fails(texts []string, args ...string) {
	i.t.Helper()
	out, err := i.command(args...).CombinedOutput()
	for _, text := range texts {
		if !strings.Contains(string(out), text) {
			i.t.Errorf("shoal %s does not say %q:\n%s", strings.Join(args, " "), text, out)
		}
	}
	if err == nil {
		i.t.Errorf("shoal %s succeeded:\n%s", strings.Join(args, " "), out)
	}
}

// version returns the version of a program, empty if it cannot be started.
func version(program string) string {
	out, err := exec.Command(program, "version", "--json").Output()
	if err != nil {
		return ""
	}
	var b struct{ Version string }
	if json.Unmarshal(out, &b) != nil {
		return ""
	}
	return b.Version
}

// expects checks which version is installed, and which one the server runs.
func (i *installed) expects(want string) {
	i.t.Helper()
	if got := version(i.program); got != want {
		i.t.Errorf("%q is installed, want %s", got, want)
	}
	r, alive, err := i.service.Running()
	if err != nil || !alive || r.Version != want {
		i.t.Errorf("the server runs %+v (alive: %v, %v), want %s", r, alive, err, want)
	}
}

func (i *installed) session() *client.Session {
	i.t.Helper()
	key, err := app.ReadOperatorKey(i.data)
	if err != nil {
		i.t.Fatal(err)
	}
	c, err := client.New(client.Options{URL: i.url, Key: key, RetryFor: patience})
	if err != nil {
		i.t.Fatal(err)
	}
	return c.Session(shoal.DefaultSession)
}

// posts posts one message after another, through every restart, until stop is called,
// which returns those that were answered.
func (i *installed) posts() (stop func() []string) {
	i.t.Helper()
	ctx, cancel := context.WithCancel(i.t.Context())
	session := i.session()
	var answered []string
	var done sync.WaitGroup
	begun := make(chan struct{})
	done.Go(func() {
		pace := time.NewTicker(5 * time.Millisecond)
		defer pace.Stop()
		for n := 0; ctx.Err() == nil; n++ {
			<-pace.C
			text := fmt.Sprintf("post %d", n)
			// What was begun is brought to its end.
			if _, err := session.Post(context.WithoutCancel(ctx), "log", shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}}); err != nil {
				i.t.Errorf("%s: %v", text, err)
				break
			}
			if answered = append(answered, text); n == 0 {
				close(begun)
			}
		}
	})
	<-begun
	return sync.OnceValue(func() []string {
		cancel()
		done.Wait()
		return answered
	})
}

// has checks that the server has exactly these messages, each once and in order.
func (i *installed) has(want []string) {
	i.t.Helper()
	var got []string
	for m, err := range i.session().Timeline(i.t.Context(), "log", 0) {
		if err != nil {
			i.t.Fatal(err)
		}
		got = append(got, m.Text())
	}
	if !slices.Equal(got, want) {
		i.t.Errorf("the server has %d messages, %d were answered: %.300q …, want %.300q …", len(got), len(want), got, want)
	}
}
