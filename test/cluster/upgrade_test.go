package cluster

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

// The versions of a rolling upgrade. The next one has an additive migration more.
const (
	thisVersion = "1.0.0"
	nextVersion = "1.1.0"
)

// releases builds both versions.
func releases(t *testing.T) (this, next string) {
	t.Helper()
	dir := t.TempDir()
	this, next = filepath.Join(dir, "shoal-"+thisVersion), filepath.Join(dir, "shoal-"+nextVersion)
	if _, err := program.Build(this, "-ldflags", "-X main.version="+thisVersion); err != nil {
		t.Fatal(err)
	}
	migration := "-- additive\nCREATE TABLE added_by_the_next_version (id TEXT NOT NULL PRIMARY KEY);\n"
	if _, err := program.BuildMigrating(next, migration, "-ldflags", "-X main.version="+nextVersion); err != nil {
		t.Fatal(err)
	}
	return this, next
}

// Three servers are replaced by those of the next version, one after the other, and then back,
// while a crowd works behind a load balancer that checks their health. Nothing is lost
// or duplicated; how many requests were interrupted is logged, as it depends on how fast the load
// balancer notices. SHOAL_UPGRADE_FROM names a program
// of an earlier release to begin with; nothing before it may have changed more than an additive
// migration does.
func TestRollingUpgrade(t *testing.T) {
	this, next := releases(t)
	if earlier := os.Getenv("SHOAL_UPGRADE_FROM"); earlier != "" {
		next, this = this, earlier
	}
	seed := setting.Seed(t, "SHOAL_FAULT_SEED")
	versions := [2]string{printedVersion(t, next), printedVersion(t, this)}
	for i, bus := range buses {
		t.Run(bus, func(t *testing.T) {
			cluster := newCluster(t, bus, 3)
			for _, n := range cluster.nodes {
				n.replace(t, this)
			}
			c := newCourse(t, cluster, seed+uint64(i))
			ctx, stop := context.WithCancel(t.Context())
			var checking sync.WaitGroup
			checking.Go(func() { c.balancer.check(ctx) })
			defer checking.Wait()
			defer stop()
			for v, binary := range []string{next, this} {
				for _, n := range c.nodes {
					late := c.round(t, fault{
						name: "a server is replaced", lasts: time.Second,
						strike: func(t *testing.T) { t.Helper(); n.replace(t, binary) },
						end:    func(t *testing.T) { t.Helper(); n.reconnect(t) },
					})
					c.crowd.Check(t, false)
					if got := c.version(t, n.name); got != versions[v] {
						t.Fatalf("%s runs %s, want %s", n.name, got, versions[v])
					}
					t.Logf("%s runs %s: an answer came at most %v late, %d findings", n.name, versions[v], late.Round(time.Millisecond), len(c.crowd.Found))
				}
			}
			if len(c.crowd.Found) == 0 {
				c.finish(t)
			}
			for _, found := range c.crowd.Found[:min(len(c.crowd.Found), 20)] {
				t.Error(found)
			}
			t.Logf("%d operations, %v", c.crowd.Operations(), c.crowd.Harm())
		})
	}
}

// printedVersion returns the version that a program prints.
func printedVersion(t *testing.T, binary string) string {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), binary, "version", "--jq", ".version").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// replace stops a server as an operator does, however long that takes on a busy machine, and starts
// another program in its place.
func (n *node) replace(t *testing.T, binary string) {
	t.Helper()
	n.Signal(syscall.SIGTERM)
	if code := n.Died(patience); code != 0 {
		t.Errorf("%s ended with %d\n%s", n.name, code, n.Goroutines())
		n.Kill()
	}
	n.Binary = binary
	n.Start(t)
}

// version returns the version that a server runs, as the database says.
func (c *cluster) version(t *testing.T, name string) string {
	t.Helper()
	for n, err := range c.client(t).Nodes(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if n.Name == name {
			return n.Version
		}
	}
	t.Fatalf("the database knows no server %s", name)
	return ""
}

// healthInterval is how often a balancer checks its servers. They are not ready for longer than that
// before they stop.
const healthInterval = time.Second

// check takes servers out that are not ready, and puts them back.
func (b *balancer) check(ctx context.Context) {
	for crowd.Pause(ctx, healthInterval) {
		for i, n := range b.nodes {
			b.out[i].Store(!n.Ready(ctx))
		}
	}
}
