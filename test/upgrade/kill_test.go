package upgrade_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/release"
)

// The steps of an upgrade, each as others see that it has been reached: a file of the
// release is on its way, or something has changed on the disk.
var steps = []struct {
	name    string
	asked   string                  // a file that is being sent
	reached func(i *installed) bool // or what to look for
}{
	{name: "the release is looked up", asked: "release.json"},
	{name: "the checksums are read", asked: "SHA256SUMS"},
	{name: "the archive is on its way", asked: release.Archive(newVersion)},
	{name: "the program is unpacked", reached: func(i *installed) bool { return exists(i.program + ".download") }},
	{name: "the old program is kept", reached: func(i *installed) bool { return exists(i.program + ".previous") }},
	{name: "the new program is installed", reached: func(i *installed) bool { return exists(i.program+".previous") && !exists(i.program+".download") }},
	{name: "the old server has ended", reached: func(i *installed) bool {
		return exists(i.program+".previous") && !exists(filepath.Join(i.data, "server.json"))
	}},
	{name: "the new server starts", reached: func(i *installed) bool {
		r, alive, err := i.service.Running()
		return err == nil && alive && r.Version == newVersion
	}},
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// An upgrade that is killed at any step leaves a program that starts, with all messages;
// the old version starts as well; and the next upgrade brings it to its end.
func TestAnUpgradeThatIsKilled(t *testing.T) {
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			from := newReleases(t, newVersion)
			i := install(t, from)
			stop := i.posts()
			defer stop()
			upgrade := i.command(i.upgrade()...)
			from.mu.Lock()
			from.hook = func(name string) {
				if name == step.asked {
					kill(upgrade)
				}
			}
			if err := upgrade.Start(); err != nil {
				t.Fatal(err)
			}
			from.mu.Unlock()
			if step.reached != nil {
				await(t, func() bool { return step.reached(i) })
				kill(upgrade)
			}
			if err := upgrade.Wait(); err == nil {
				t.Log("the upgrade was faster than the signal")
			}
			from.mu.Lock()
			from.hook = nil
			from.mu.Unlock()

			// Whichever version is installed, it starts; and so does the old one.
			if v := version(i.program); v != oldVersion && v != newVersion {
				t.Fatalf("the program that is installed says %q", v)
			}
			old := *i
			if exists(i.program + ".previous") {
				old.program = i.program + ".previous"
			}
			i.runs("up", "--no-service")
			i.runs("down")
			old.runs("up", "--no-service")
			old.expectsServer(oldVersion)
			old.runs("down")
			i.runs("up", "--no-service")

			i.runs(i.upgrade()...)
			i.expects(newVersion)
			i.has(stop())
		})
	}
}

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // it may have ended

// await waits until something has happened.
func await(t *testing.T, happened func() bool) {
	t.Helper()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); !happened(); <-again.C {
		if time.Now().After(deadline) {
			t.Fatal("it has not happened")
		}
	}
}

func (i *installed) expectsServer(want string) {
	i.t.Helper()
	r, alive, err := i.service.Running()
	if err != nil || !alive || r.Version != want {
		i.t.Errorf("the server runs %+v (alive: %v, %v), want %s", r, alive, err, want)
	}
}
