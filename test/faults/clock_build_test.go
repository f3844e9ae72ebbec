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

// These tests set the wall clock of a single process. At build time the calls of time.Now
// in the program are replaced by calls of package rigclock, which changes the wall clock
// reading and keeps the monotonic reading, which timers and time-outs use. This is how a
// machine behaves whose clock is set.

// clockSource is package rigclock. It reads the clock from a file: an offset in
// nanoseconds, or the word freeze and a time.
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

// Now returns the current time with the wall clock as it is set and the real monotonic
// clock.
func Now() time.Time {
	now := time.Now()
	c := set.Load()
	at := now.Add(c.ahead)
	if c.frozen != 0 {
		at = time.Unix(0, c.frozen)
	}
	// The first word of a time.Time with a monotonic reading: 1, seconds from 1885, nanoseconds.
	const since = 1885
	seconds := uint64(at.Unix() - time.Date(since, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	*(*uint64)(unsafe.Pointer(&now)) = 1<<63 | seconds<<30 | uint64(at.Nanosecond())
	return now
}
`

// clockPackage is the path of that package.
const clockPackage = "internal/rigclock"

// clockBinary returns the binary whose wall clock can be set.
func clockBinary(t *testing.T) string {
	t.Helper()
	return builtPrograms.clockBinary.path(t, "shoal-clocked", clockOverlay)
}

// clockOverlay writes package rigclock and the copies of sources that use it, and returns
// the path of the -overlay file that lists them.
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

// timeReaders returns the files of the program that call time.Now.
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
		return nil, fmt.Errorf("only %q call time.Now: want at least 10 files", files)
	}
	return files, nil
}

// withRigClock returns the source of a file with time.Now replaced by rigclock.Now.
func withRigClock(text []byte) []byte {
	first := packageClause.FindIndex(text)[1]
	text = slices.Concat(text[:first], []byte(`; import rigclock "github.com/shoal-dev/shoal/`+clockPackage+`"`), text[first:])
	return append(asksTime.ReplaceAll(text, []byte("rigclock.Now")), "\nvar _, _ = rigclock.Now, time.Now\n"...)
}

// wall is the wall clock of a server.
type wall struct {
	file  string
	ahead time.Duration // the current offset
}

func (c *wall) write(t *testing.T, text string) {
	t.Helper()
	next := c.file + ".next"
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, c.file); err != nil { // atomically
		t.Fatal(err)
	}
}

// set sets the offset of the clock to the real one.
func (c *wall) set(t *testing.T, ahead time.Duration) {
	t.Helper()
	c.ahead = ahead
	c.write(t, strconv.FormatInt(int64(ahead), 10))
}

// freeze stops the clock at its current time.
func (c *wall) freeze(t *testing.T) {
	t.Helper()
	c.write(t, fmt.Sprintf("freeze %d", time.Now().Add(c.ahead).UnixNano()))
}
