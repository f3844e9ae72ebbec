package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// The clock on the wall of one process is put forward and back at build time: where
// the program asks package time for the time, it asks this instead, which changes
// what the clock on the wall says and leaves the clock that never jumps, by which
// timers and time-outs run, as it is. That is what a machine does whose clock is set.

// clockSource sets the clock by a file: so many nanoseconds forward, or the word
// freeze and a moment.
const clockSource = `package rigclock

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"
)

type clock struct {
	ahead  time.Duration
	frozen int64
}

var set atomic.Pointer[clock]

func init() {
	set.Store(&clock{})
	path := os.Getenv("RIG_CLOCK")
	if path == "" {
		return
	}
	look(path)
	go func() {
		for range time.Tick(2 * time.Millisecond) {
			look(path)
		}
	}()
}

func look(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	c := clock{}
	if at, frozen := strings.CutPrefix(string(text), "freeze "); frozen {
		c.frozen, err = strconv.ParseInt(at, 10, 64)
	} else {
		var n int64
		n, err = strconv.ParseInt(string(text), 10, 64)
		c.ahead = time.Duration(n)
	}
	if err == nil {
		set.Store(&c)
	}
}

// Now is the present time: the wall's as it is set, and the one that never jumps.
func Now() time.Time {
	now := time.Now()
	c := set.Load()
	at := now.Add(c.ahead)
	if c.frozen != 0 {
		at = time.Unix(0, c.frozen)
	}
	// The first word of a time.Time that has both: 1, seconds since 1885, nanoseconds.
	const since = 1885
	seconds := uint64(at.Unix() - time.Date(since, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	*(*uint64)(unsafe.Pointer(&now)) = 1<<63 | seconds<<30 | uint64(at.Nanosecond())
	return now
}
`

// clockPackage is where it is put.
const clockPackage = "internal/rigclock"

// clockBinary returns the binary whose clock on the wall can be set.
func clockBinary(t *testing.T) string {
	t.Helper()
	return builtPrograms.clockBinary.path(t, "shoal-clocked", clockOverlay)
}

// clockOverlay writes the copies of sources that ask the rig's clock, and the clock,
// and returns the file that names them all.
func clockOverlay(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	replace := map[string]string{filepath.Join(root, clockPackage, "clock.go"): filepath.Join(dir, "clock.go")}
	if err := os.WriteFile(filepath.Join(dir, "clock.go"), []byte(clockSource), 0o600); err != nil {
		return "", err
	}
	files, err := timeReaders()
	if err != nil {
		return "", err
	}
	for n, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		copied := filepath.Join(dir, fmt.Sprintf("%d.go", n))
		if err := os.WriteFile(copied, withRigClock(text), 0o600); err != nil {
			return "", err
		}
		replace[file] = copied
	}
	return overlayOf(dir, replace)
}

var (
	asksTime      = regexp.MustCompile(`\btime\.Now\b`)
	packageClause = regexp.MustCompile(`(?m)^package \w+$`)
)

// asking returns the files of the program that ask for the time.
func timeReaders() (files []string, err error) {
	sources, err := program.Sources()
	if err != nil {
		return nil, err
	}
	for _, file := range sources {
		if filepath.Ext(file) != ".go" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if asksTime.Match(text) {
			files = append(files, file)
		}
	}
	if len(files) < 10 {
		return nil, fmt.Errorf("only %q ask for the time: the rig does not see the others", files)
	}
	return files, nil
}

// withRigClock returns the source of a file that asks the rig's clock instead.
func withRigClock(text []byte) []byte {
	first := packageClause.FindIndex(text)[1]
	text = slices.Concat(text[:first], []byte(`; import rigclock "github.com/shoal-dev/shoal/`+clockPackage+`"`), text[first:])
	return append(asksTime.ReplaceAll(text, []byte("rigclock.Now")), "\nvar _, _ = rigclock.Now, time.Now\n"...)
}

// wall is the clock on the wall of a server.
type wall struct {
	file  string
	ahead time.Duration // while it goes
}

func (c *wall) write(t *testing.T, text string) {
	t.Helper()
	next := c.file + ".next"
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, c.file); err != nil { // it is never there in part
		t.Fatal(err)
	}
}

// set puts the clock so far ahead of ours.
func (c *wall) set(t *testing.T, ahead time.Duration) {
	t.Helper()
	c.ahead = ahead
	c.write(t, strconv.FormatInt(int64(ahead), 10))
}

// freeze stops the clock where it is.
func (c *wall) freeze(t *testing.T) {
	t.Helper()
	c.write(t, fmt.Sprintf("freeze %d", time.Now().Add(c.ahead).UnixNano()))
}
