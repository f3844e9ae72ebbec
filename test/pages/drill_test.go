package pages

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

var drillBlock = regexp.MustCompile("(?s)```sh drill=(\\w+)\n(.*?)```")

// drill returns the commands of docs/deploy.md with a name, with the paths of the test.
func drill(t *testing.T, name string, replace ...string) (lines []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	paths := strings.NewReplacer(append([]string{"sudo ", ""}, replace...)...)
	for _, block := range drillBlock.FindAllStringSubmatch(string(page), -1) {
		if block[1] == name {
			lines = append(lines, strings.Split(strings.TrimSpace(paths.Replace(block[2])), "\n")...)
		}
	}
	if len(lines) == 0 {
		t.Fatalf("docs/deploy.md has no block of the drill %s", name)
	}
	return lines
}

// load posts from several senders until it is stopped, and knows what was acknowledged.
type load struct {
	mu     sync.Mutex
	acked  []shoal.MessageID
	enough chan struct{}
	stop   func()
}

func posting(t *testing.T, s *client.Session) *load {
	t.Helper()
	l, done := &load{enough: make(chan struct{})}, make(chan struct{})
	var senders sync.WaitGroup
	l.stop = sync.OnceFunc(func() { close(done); senders.Wait() })
	t.Cleanup(l.stop)
	for sender := range 4 {
		senders.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				m, err := s.Post(t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text(fmt.Sprintf("message %d of %d", n, sender))}, TriggerAgents: new(bool)})
				if err != nil {
					t.Errorf("post: %v", err)
					return
				}
				l.mu.Lock()
				if l.acked = append(l.acked, m.ID); len(l.acked) == 200 {
					close(l.enough)
				}
				l.mu.Unlock()
			}
		})
	}
	return l
}

// soFar returns what was acknowledged until now.
func (l *load) soFar() []shoal.MessageID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.acked)
}

// drillSite is where the commands of a drill run.
type drillSite struct {
	t        *testing.T
	dir, bin string
	env      []string
}

// run runs commands with bash. A server that they start in the background is asked only once it
// is ready, and ends when they do.
func (s *drillSite) run(lines []string) string {
	s.t.Helper()
	script := []string{"set -eu"}
	for _, line := range lines {
		script = append(script, line)
		if address, found := strings.CutSuffix(line, " --quiet &"); found {
			script = append(script, "trap \"kill $!; wait $! || :\" EXIT", "until shoal --url http://"+address[strings.LastIndex(address, " ")+1:]+" doctor --ready 2>/dev/null; do kill -0 $!; done")
		}
	}
	cmd := exec.CommandContext(s.t.Context(), "bash", "-c", strings.Join(script, "\n"))
	cmd.Dir = s.dir
	cmd.Env = append(append(os.Environ(), "PATH="+filepath.Dir(s.bin)+":"+os.Getenv("PATH"), "HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir), s.env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("%v\n%s\n%s", err, strings.Join(script, "\n"), out.String())
	}
	return out.String()
}

// checkHas reports messages that a restored server does not have.
func checkHas(t *testing.T, config app.Config, want []shoal.MessageID) {
	t.Helper()
	running, key := apptest.Run(t, config)
	defer running.Stop()
	c, err := client.New(client.Options{URL: running.URL(), Key: key, As: shoal.Operator})
	if err != nil {
		t.Fatal(err)
	}
	has := map[shoal.MessageID]bool{}
	for before := int64(0); before != 1; {
		page, err := c.Session(shoal.DefaultSession).Messages(t.Context(), app.Welcome, client.MessagesOptions{Before: before, Limit: shoal.MaxPage})
		if err != nil || len(page) == 0 {
			t.Fatalf("%d messages before %d, %v", len(page), before, err)
		}
		for _, m := range page {
			has[m.ID] = true
		}
		before = page[0].Seq
	}
	lost := 0
	for _, id := range want {
		if !has[id] {
			lost++
		}
	}
	if lost > 0 || len(want) < 200 {
		t.Errorf("of %d acknowledged messages %d are missing; %d are there", len(want), lost, len(has))
	}
}

// The drill of docs/deploy.md: a backup under load has every message that was acknowledged
// before it, on both databases, and the commands of the page restore it.
func TestTheDrillRestoresEveryMessage(t *testing.T) {
	bin := shoalBinary.Path()
	t.Run("sqlite", func(t *testing.T) {
		site := &drillSite{t: t, dir: t.TempDir(), bin: bin}
		data := filepath.Join(site.dir, "data")
		paths := []string{"/var/lib/shoal", data, "/var/backups", site.dir, "127.0.0.1:7999", program.FreeAddr(t)}
		running, key := apptest.Run(t, app.Config{Data: data})
		commands := drill(t, "sqlite", paths...)
		posted := drillUnderLoad(t, site, running, key, commands)
		checkHas(t, app.Config{Data: filepath.Join(site.dir, "drill")}, posted)

		// For real, over a database that has gone on.
		running.Stop()
		real := drill(t, "real", paths...)
		if !strings.HasPrefix(real[0], "systemctl stop") || !strings.HasPrefix(real[len(real)-1], "systemctl start") {
			t.Fatalf("the commands are %q", real)
		}
		if out := site.run(real[1 : len(real)-1]); !strings.Contains(out, "is kept in ") {
			t.Errorf("the restore prints %s", out)
		}
		checkHas(t, app.Config{Data: data}, posted)
	})
	t.Run("postgres", func(t *testing.T) {
		source, target := postgrestest.Database(t), postgrestest.Database(t)
		site := &drillSite{t: t, dir: t.TempDir(), bin: bin, env: []string{"SHOAL_DATABASE=" + source}}
		commands := drill(t, "postgres", "postgres:///shoal_drill", "'"+target+"'", "127.0.0.1:7999", program.FreeAddr(t))
		created := slices.Index(commands, "createdb shoal_drill") // the database of the test exists
		commands = slices.Delete(commands, created, created+1)
		running, key := apptest.Run(t, app.Config{Database: source})
		posted := drillUnderLoad(t, site, running, key, commands)
		checkHas(t, app.Config{Database: target}, posted)
	})
}

// drillUnderLoad runs the commands of a drill, of which the first makes the backup, while
// messages are posted. It returns what was acknowledged before the backup began.
func drillUnderLoad(t *testing.T, site *drillSite, running *app.Server, key string, commands []string) []shoal.MessageID {
	t.Helper()
	c, err := client.New(client.Options{URL: running.URL(), Key: key, As: shoal.Operator})
	if err != nil {
		t.Fatal(err)
	}
	posting := posting(t, c.Session(shoal.DefaultSession))
	<-posting.enough
	before := posting.soFar()
	site.run(commands[:1])
	if meanwhile := len(posting.soFar()) - len(before); meanwhile == 0 {
		t.Error("nothing was posted while the backup was made")
	}
	if out := site.run(commands[1:]); !strings.Contains(out, "welcome\t") {
		t.Errorf("the drill does not list the spaces:\n%s", out)
	}
	posting.stop()
	return before
}
