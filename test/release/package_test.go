package release_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const systemProgram = "/usr/bin/shoal"

// isInstalled checks what both packages install.
func isInstalled(t *testing.T, m machine) {
	t.Helper()
	unit := read(t, m.path("/usr/lib/systemd/system/shoal.service"))
	if !strings.Contains(unit, "\nExecStart="+systemProgram+" serve --quiet\n") {
		t.Errorf("the unit starts another program:\n%s", unit)
	}
	for name, mode := range map[string]os.FileMode{
		systemProgram: 0o755, "/etc/shoal/config.yaml": 0o600, "/usr/share/doc/shoal/copyright": 0o644, "/usr/share/doc/shoal/THIRD-PARTY-LICENSES.txt": 0o644,
	} {
		if info, err := os.Stat(m.path(name)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v, want mode %v", name, info, err, mode)
		}
	}
}

// dpkg installs the package, and removes it without the configuration and the data.
func TestDeb(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.adopt(t, artifactOf(t, "deb"), "/tmp/shoal.deb")
	printed := must(t, m.command(t, 0, "/usr/bin/dpkg", "--install", "/tmp/shoal.deb"))
	if !strings.Contains(printed, "systemctl enable --now shoal") {
		t.Errorf("dpkg prints %s", printed)
	}
	isInstalled(t, m)
	if status := must(t, m.command(t, 0, "/usr/bin/dpkg-query", "-W", "-f", "${Version} ${Status} ${Conffiles}", "shoal")); !strings.HasPrefix(status, version+" install ok installed") || !strings.Contains(status, "/etc/shoal/config.yaml") {
		t.Errorf("dpkg-query prints %s", status)
	}
	i := installedAt(m, systemProgram)
	i.describesItself(t)
	i.firstOrder(t)

	write(t, m.path("/etc/shoal/config.yaml"), "addr: 127.0.0.1:7462\n", 0o600)
	must(t, m.command(t, 0, "/usr/bin/dpkg", "--install", "/tmp/shoal.deb"))
	if config := read(t, m.path("/etc/shoal/config.yaml")); config != "addr: 127.0.0.1:7462\n" {
		t.Errorf("a second installation replaces the configuration: %s", config)
	}
	must(t, m.command(t, 0, "/usr/bin/dpkg", "--remove", "shoal"))
	if _, err := os.Stat(m.path(systemProgram)); !os.IsNotExist(err) {
		t.Errorf("the program is left: %v", err)
	}
	for _, kept := range []string{m.path("/etc/shoal/config.yaml"), i.keyFile} {
		if _, err := os.Stat(kept); err != nil {
			t.Errorf("removing removes %v", err)
		}
	}
}

// rpm finds the package sound, installs it and removes it.
func TestRPM(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	file := artifactOf(t, "rpm")
	rpm := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(bounded(t), tool(t, "rpm", "rpm"), args...)
		if os.Getuid() != 0 {
			c.SysProcAttr = m.command(t, 0, "/bin/sh").SysProcAttr
			c.SysProcAttr.Chroot = ""
		}
		return must(t, c)
	}
	if checked := rpm("--checksig", "--nosignature", file); !strings.Contains(checked, "digests OK") {
		t.Errorf("rpm says %s", checked)
	}
	if head := rpm("-qp", "--nosignature", "--qf", "%{NAME} %{VERSION}-%{RELEASE} %{LICENSE} %{BUILDHOST}", file); head != "shoal "+version+"-1 Apache-2.0 shoal" {
		t.Errorf("the package is %q", head)
	}
	if config := rpm("-qpc", "--nosignature", file); strings.TrimSpace(config) != "/etc/shoal/config.yaml" {
		t.Errorf("its configuration is %q", config)
	}
	// The machine has no packages of rpm that the shell of the scripts could be from.
	rpm("--root", m.root, "--nosignature", "--nodeps", "--install", file)
	isInstalled(t, m)
	i := installedAt(m, systemProgram)
	i.describesItself(t)
	i.firstOrder(t)
	rpm("--root", m.root, "--nodeps", "--erase", "shoal")
	if left := m.files(t, "/usr/bin"); slices.Contains(left, systemProgram) {
		t.Errorf("the program is left: %q", left)
	}
	if _, err := os.Stat(i.keyFile); err != nil {
		t.Errorf("removing removes %v", err)
	}
}
