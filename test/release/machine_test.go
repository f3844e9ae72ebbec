package release_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const (
	ann  = 1000 // the user of a machine
	home = "/srv/ann"
)

// machine is where a release is installed: a root file system of its own, or with an
// empty root that of the test.
type machine struct {
	root string
	env  []string
}

// basePrograms are programs of Debian's essential packages that installers use.
var basePrograms = []string{
	"sh", "tar", "gzip", "sed", "grep", "dpkg", "dpkg-deb", "dpkg-query", "dpkg-split", "start-stop-daemon", "ldconfig",
	"cat", "chmod", "cp", "cut", "diff", "echo", "env", "id", "ls", "mkdir", "mktemp", "mv", "rm", "rmdir", "sha256sum", "sort", "touch", "uname",
}

// newMachine makes a root file system of a few programs, with the libraries that they
// load, and an empty home: no Go, no Node, no compiler, no package of its own.
func newMachine(t *testing.T, more ...string) machine {
	t.Helper()
	m := machine{root: t.TempDir(), env: []string{"HOME=" + home, "PATH=" + home + "/.local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "SHOAL_ADDR=127.0.0.1:0"}}
	var from []string
	for _, name := range slices.Concat(basePrograms, more) {
		path, err := exec.LookPath(name)
		if err != nil {
			path = tool(t, filepath.Join("/sbin", name), "dpkg libc-bin")
		}
		m.adopt(t, path, "/usr/bin/"+name)
		from = append(from, path)
	}
	// A program that is a script has no libraries: ldd says so and exits with 1.
	libraries, _ := ran(t, exec.CommandContext(bounded(t), tool(t, "ldd", "libc-bin"), from...))
	for word := range strings.FieldsSeq(libraries) {
		if strings.HasPrefix(word, "/lib") || strings.HasPrefix(word, "/usr/lib") {
			m.adopt(t, strings.TrimSuffix(word, ":"), strings.TrimSuffix(word, ":"))
		}
	}
	for _, dir := range []string{"bin", "tmp", "dev", "etc", "var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers", strings.TrimPrefix(home, "/")} {
		if err := os.MkdirAll(filepath.Join(m.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../usr/bin/sh", filepath.Join(m.root, "bin/sh")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(m.root, "var/lib/dpkg/status"), "", 0o644)
	write(t, filepath.Join(m.root, "etc/passwd"), "root:x:0:0::/:/bin/sh\nann:x:1000:1000::/srv/ann:/bin/sh\n", 0o644)
	write(t, filepath.Join(m.root, "etc/group"), "root:x:0:\nann:x:1000:\n", 0o644)
	m.prepare(t)
	return m
}

// prepare makes what belongs to somebody or is a device. Without the rights of root
// /dev/null is a file that takes everything, too.
func (m machine) prepare(t *testing.T) {
	t.Helper()
	null := filepath.Join(m.root, "dev/null")
	if os.Getuid() != 0 {
		write(t, null, "", 0o666)
		return
	}
	if err := syscall.Mknod(null, syscall.S_IFCHR|0o666, 1<<8|3); err != nil {
		t.Fatal(err)
	}
	for path, owner := range map[string]int{home: ann, "/tmp": ann} {
		if err := os.Chown(filepath.Join(m.root, path), owner, owner); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(null, 0o666); err != nil {
		t.Fatal(err)
	}
}

// adopt copies a program or a library of this machine.
func (m machine) adopt(t *testing.T, from, to string) {
	t.Helper()
	path, err := filepath.EvalSymlinks(from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(m.root, to), read(t, path), 0o755)
}

// command prepares a program that runs on the machine as its user, or as root.
func (m machine) command(t *testing.T, user uint32, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(bounded(t), args[0], args[1:]...)
	c.Env = m.env
	// A group of its own, as a terminal makes one, can be ended as a whole.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	if m.root == "" {
		return c
	}
	c.Dir, c.SysProcAttr.Chroot = "/", m.root
	if os.Getuid() == 0 {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: user, Gid: user}
		return c
	}
	// A user other than root is root in a user namespace, and may change the root there.
	c.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
	c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	c.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	return c
}

// shell runs a line of a shell on the machine as its user.
func (m machine) shell(t *testing.T, line string, env ...string) *exec.Cmd {
	t.Helper()
	c := m.command(t, ann, "/bin/sh", "-c", line)
	c.Env = slices.Concat(c.Env, env)
	return c
}

// path returns where a file of the machine is for the test.
func (m machine) path(name string) string { return filepath.Join(m.root, name) }

// files lists the files below a directory of the machine.
func (m machine) files(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(m.path(dir), func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, strings.TrimPrefix(name, m.root))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A machine has what it takes to install a package, and nothing to build one.
func TestAMachineIsEmpty(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	if out := must(t, m.shell(t, `echo here; id -u; echo >/dev/null; ls /`)); !strings.HasPrefix(out, "here\n") {
		t.Errorf("a shell prints %q", out)
	}
	for _, name := range []string{"go", "node", "npm", "cc", "gcc", "python3", "curl", "wget"} {
		if out, code := ran(t, m.shell(t, "command -v "+name)); code == 0 {
			t.Errorf("the machine has %s", out)
		}
	}
}
