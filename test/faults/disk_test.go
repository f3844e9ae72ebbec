package faults

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// mount mounts a file system until the end of the test. If mounting is not allowed, it
// reports the test as skipped and returns false.
func mount(t *testing.T, fault, dir string, args ...string) bool {
	t.Helper()
	if withoutRoot(t, fault) {
		return false
	}
	if out, err := exec.CommandContext(t.Context(), "mount", append(args, dir)...).CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("permission denied")) || bytes.Contains(out, []byte("not permitted")) || bytes.Contains(out, []byte("failed to setup loop")) {
			skipped(t, fault, "mounting is not allowed here: "+string(bytes.TrimSpace(out)))
			return false
		}
		t.Fatalf("mount %v %s: %v\n%s", args, dir, err, out)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }) // a failed test may still use it
	return true
}

// disk is a file system in a file, whose power can be cut.
type disk struct{ image, dir string }

// diskSize is enough for the database of a test, and fast to format.
const diskSize = 512 << 20

func newDisk(t *testing.T, fault string) *disk {
	t.Helper()
	d := &disk{image: filepath.Join(t.TempDir(), "disk.img"), dir: t.TempDir()}
	if withoutRoot(t, fault) {
		return nil
	}
	err := os.WriteFile(d.image, nil, 0o600)
	if err == nil {
		err = os.Truncate(d.image, diskSize)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "mkfs.ext4", "-q", "-F", d.image).CombinedOutput(); err != nil {
		t.Fatalf("mkfs.ext4 (Debian's e2fsprogs): %v\n%s", err, out)
	}
	if !mount(t, fault, d.dir, "-o", "loop", d.image) {
		return nil
	}
	return d
}

const (
	ioctlShutdown = 0x8004587d // EXT4_IOC_SHUTDOWN
	noLogFlush    = 2          // EXT4_GOING_FLAGS_NOLOGFLUSH
)

// cut cuts the power: data that was not flushed is lost, and nothing is written any more.
func (d *disk) cut() error {
	root, err := os.Open(d.dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // only its descriptor was needed
	flags := uint32(noLogFlush)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, root.Fd(), ioctlShutdown, uintptr(unsafe.Pointer(&flags))); errno != 0 {
		return fmt.Errorf("EXT4_IOC_SHUTDOWN: %w", errno)
	}
	return nil
}

// restore restores the power: it mounts the disk again.
func (d *disk) restore(t *testing.T) {
	t.Helper()
	if err := syscall.Unmount(d.dir, 0); err != nil && !errors.Is(err, syscall.EINVAL) {
		t.Fatalf("umount %s: %v", d.dir, err)
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "loop", d.image, d.dir).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v\n%s", err, out)
	}
}

// cutPower runs rounds in which the power is cut.
func cutPower(t *testing.T, fault, binary string, env []string, rounds int, seed uint64) (o outcome, ran bool) {
	t.Helper()
	d := newDisk(t, fault)
	if d == nil {
		return o, false
	}
	s := program.NewServerIn(t, binary, filepath.Join(d.dir, "data"))
	s.Env = env
	o, w := play(t, s, round{rounds: rounds, agents: 2, seed: seed, uncounted: true, strike: func(int) []string {
		if err := d.cut(); err != nil {
			t.Error(err)
		}
		s.Kill()
		return nil
	}, repair: func() { d.restore(t) }})
	s.Kill()
	w.Close()
	o.fault, o.note = fault, fmt.Sprintf("%v", w.Harm())
	return o, true
}

// The power of a server is cut at random moments, with posts, waits and runs in progress.
func TestPowerCut(t *testing.T) {
	seed := randomSeed(t)
	if o, ran := cutPower(t, "power cut", productBinary(t), nil, times(t, "SHOAL_POWER_CUTS", 2), seed); ran {
		report(t, o)
	}
}
