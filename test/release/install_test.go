package release_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const installedProgram = home + "/.local/bin/shoal"

// newInstaller is a machine with install.sh and what downloads, and a server that has
// the files of the release.
func newInstaller(t *testing.T, downloader ...string) (m machine, url string) {
	t.Helper()
	m = newMachine(t, downloader...)
	m.adopt(t, filepath.Join(dist(t), "install.sh"), "/tmp/install.sh")
	files := httptest.NewServer(http.FileServer(http.Dir(dist(t))))
	t.Cleanup(files.Close)
	return m, "SHOAL_BASE_URL=" + files.URL
}

// One line installs it, the printed line starts it, and the other one undoes it.
func TestInstallSh(t *testing.T) {
	t.Parallel()
	m, from := newInstaller(t, "curl")
	started := time.Now()
	printed := must(t, m.shell(t, `curl -fsSL "$SHOAL_BASE_URL/install.sh" | sh`, from))
	for _, want := range []string{"Shoal " + version + " is installed: " + installedProgram, "Start:  shoal serve", "Undo:   rm " + installedProgram} {
		if !strings.Contains(printed, want) {
			t.Errorf("install.sh does not print %q: %s", want, printed)
		}
	}
	if left := m.files(t, home); !slices.Equal(left, []string{installedProgram}) {
		t.Errorf("the home has %q", left)
	}
	took := time.Since(started)
	i := installedAt(m, installedProgram)
	i.describesItself(t)
	t.Logf("installed in %v, first page after %v more", took, i.firstOrder(t))

	// An upgrade replaces the program while a server runs, and the data stays.
	url, stop := i.start(t)
	must(t, m.shell(t, "sh /tmp/install.sh", from))
	if runs := must(t, i.command(t, i.user, installedProgram, "--url", url, "runs")); !strings.Contains(runs, "completed") {
		t.Errorf("after a second installation runs prints %q", runs)
	}
	stop()

	printed = must(t, m.shell(t, "sh /tmp/install.sh --uninstall"))
	if _, err := os.Stat(m.path(installedProgram)); !os.IsNotExist(err) || !strings.Contains(printed, "Your data stays in ~/.local/share/shoal") {
		t.Errorf("--uninstall leaves the program (%v) and prints %s", err, printed)
	}
	if _, err := os.Stat(i.keyFile); err != nil {
		t.Errorf("--uninstall removed data: %v", err)
	}
	if printed, code := ran(t, m.shell(t, "sh /tmp/install.sh --uninstall")); code != 1 || !strings.Contains(printed, installedProgram+" does not exist") {
		t.Errorf("a second --uninstall exits with %d: %s", code, printed)
	}
	if left := m.files(t, "tmp"); !slices.Equal(left, []string{"/tmp/install.sh"}) {
		t.Errorf("files are left: %q", left)
	}
}

// It downloads with what there is, and installs where it shall.
func TestInstallShDownloads(t *testing.T) {
	t.Parallel()
	t.Run("with wget", func(t *testing.T) {
		t.Parallel()
		m, from := newInstaller(t, "wget")
		printed := must(t, m.shell(t, "sh /tmp/install.sh", from, "SHOAL_INSTALL_DIR="+home+"/my programs"))
		program := home + "/my programs/shoal"
		if left := m.files(t, home); !slices.Equal(left, []string{program}) || !strings.Contains(printed, "is not on PATH") || !strings.Contains(printed, "Start:  "+program+" serve") {
			t.Errorf("the home has %q, install.sh prints %s", left, printed)
		}
	})
	t.Run("from a directory", func(t *testing.T) {
		t.Parallel()
		m, _ := newInstaller(t)
		archive := artifactOf(t, "archive")
		m.adopt(t, archive, "/media/"+filepath.Base(archive))
		must(t, m.shell(t, "sh /tmp/install.sh", "SHOAL_BASE_URL=file:///media"))
		installedAt(m, installedProgram).describesItself(t)
	})
}

// Whatever goes wrong, a sentence says what, and nothing is left.
func TestInstallShRefuses(t *testing.T) {
	t.Parallel()
	m, from := newInstaller(t, "curl")
	changed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("something else")) }))
	defer changed.Close()
	write(t, m.path("/odd/uname"), "#!/bin/sh\ncase $1 in -s) echo SunOS ;; *) echo sparc64 ;; esac\n", 0o755)
	write(t, m.path("/windows/uname"), "#!/bin/sh\necho MINGW64_NT-10.0\n", 0o755)
	write(t, m.path("/nothing/there"), "", 0o644)
	for name, c := range map[string]struct {
		env  []string
		args string
		want []string
	}{
		"checksum":        {[]string{"SHOAL_BASE_URL=" + changed.URL}, "", []string{"error: the checksum of ", "nothing was installed"}},
		"unreachable":     {[]string{"SHOAL_BASE_URL=http://127.0.0.1:1"}, "", []string{"error: cannot download http://127.0.0.1:1/shoal_1.2.3_", "try: "}},
		"missing":         {[]string{from + "/nothing"}, "", []string{"error: cannot download"}},
		"platform":        {[]string{from, "PATH=/odd:/usr/bin:/bin"}, "", []string{"error: Shoal 1.2.3 is not built for SunOS_sparc64", "try: build it from source"}},
		"windows":         {[]string{from, "PATH=/windows:/usr/bin:/bin"}, "", []string{"error: this installer does not run on Windows", "try: Scoop"}},
		"no home":         {[]string{from, "HOME="}, "", []string{"error: HOME is not set", "try: set SHOAL_INSTALL_DIR"}},
		"not a directory": {[]string{from, "SHOAL_INSTALL_DIR=/nothing/there"}, "", []string{"try: set SHOAL_INSTALL_DIR to a directory that you may write to"}},
		"argument":        {[]string{from}, "--upgrade", []string{"error: unknown argument --upgrade"}},
	} {
		printed, code := ran(t, m.shell(t, "sh /tmp/install.sh "+c.args, c.env...))
		if code != 1 {
			t.Errorf("%s: it exits with %d", name, code)
		}
		for _, want := range c.want {
			if !strings.Contains(printed, want) {
				t.Errorf("%s: %q is not in: %s", name, want, printed)
			}
		}
		if left := slices.Concat(m.files(t, home), m.files(t, "tmp")); !slices.Equal(left, []string{"/tmp/install.sh"}) {
			t.Errorf("%s: files are left: %q", name, left)
		}
	}
}

// A script that was cut off on its way installs nothing.
func TestInstallShCutOff(t *testing.T) {
	t.Parallel()
	m, _ := newInstaller(t)
	archive := artifactOf(t, "archive")
	m.adopt(t, archive, "/media/"+filepath.Base(archive))
	const from = "SHOAL_BASE_URL=file:///media"
	script := read(t, filepath.Join(dist(t), "install.sh"))
	end := strings.LastIndex(script, "'') install_shoal ;;")
	for cut := 0; cut <= end; cut += end / 40 {
		write(t, m.path("/tmp/cut.sh"), script[:cut], 0o755)
		printed, _ := ran(t, m.shell(t, "sh /tmp/cut.sh", from))
		if left := m.files(t, home); len(left) != 0 {
			t.Fatalf("cut at %d of %d it installs %q: %s", cut, len(script), left, printed)
		}
	}
}

// Other shells than dash understand it, too.
func TestInstallShIsPortable(t *testing.T) {
	t.Parallel()
	script := filepath.Join(dist(t), "install.sh")
	for _, shell := range [][]string{{"dash", "-n"}, {"bash", "--posix", "-n"}, {"zsh", "--emulate", "sh", "-n"}} {
		must(t, exec.CommandContext(bounded(t), tool(t, shell[0], shell[0]), append(shell[1:], script)...))
	}
}
