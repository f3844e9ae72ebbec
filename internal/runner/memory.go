package runner

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal/internal/harness/process"
)

// Memory is a number of bytes, in texts a number with a unit: 512MiB or 2GiB.
type Memory int64

// units are in order.
var units = []struct {
	name string
	size Memory
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}

// minMemory is the lowest limit of one program: below it, every program would be over the limit.
const minMemory = 1 << 20

// UnmarshalText decodes a number with a unit.
func (m *Memory) UnmarshalText(text []byte) error {
	for _, u := range units {
		digits, found := strings.CutSuffix(string(text), u.name)
		n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if found && err == nil && n >= 0 && n < math.MaxInt64/float64(u.size) {
			*m = Memory(n * float64(u.size))
			return nil
		}
	}
	return fmt.Errorf("%q is not an amount of memory such as 512MiB or 2GiB", text)
}

// String writes the number in the largest unit that is not larger.
func (m Memory) String() string {
	u := units[0]
	for _, next := range units {
		if m >= next.size {
			u = next
		}
	}
	return strconv.FormatFloat(float64(m)/float64(u.size), 'f', -1, 64) + u.name
}

// memoryLimits bound the resident memory of idle programs, with what they have started; 0 means that there is no limit.
type memoryLimits struct{ each, total Memory }

func (l memoryLimits) any() bool { return l.each > 0 || l.total > 0 }

// memoryInterval is the time between two measurements.
const memoryInterval = 5 * time.Second

// CanMeasureMemory reports why the memory of programs cannot be measured on this machine.
func CanMeasureMemory() error {
	_, err := process.Resident()
	return err
}

// grouped is a session whose programs are a process group.
type grouped interface{ Group() int }

// watchMemory measures the programs again and again until ctx ends.
func (p *pool) watchMemory(ctx context.Context, limits memoryLimits, closed func(c conversation, used Memory, why string)) {
	again := time.NewTicker(memoryInterval)
	defer again.Stop()
	for {
		select {
		case <-again.C:
			if used, err := process.Resident(); err == nil { // else the next time, or it was said at the start
				p.limitMemory(limits, used, closed)
			}
		case <-ctx.Done():
			return
		}
	}
}

// limitMemory ends idle sessions, the one that was unused the longest first: those whose programs use
// more than one may, and then others until all together use no more than they may. A session in use is
// left alone, and counts.
func (p *pool) limitMemory(limits memoryLimits, used map[int]int64, closed func(c conversation, used Memory, why string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	sizes, total := map[conversation]Memory{}, Memory(0)
	for c, e := range p.open {
		if g, ok := e.session.(grouped); ok && !e.ending {
			sizes[c] = Memory(used[g.Group()])
			total += sizes[c]
		}
	}
	idle := slices.SortedFunc(maps.Keys(sizes), func(a, b conversation) int { return p.open[a].since.Compare(p.open[b].since) })
	idle = slices.DeleteFunc(idle, func(c conversation) bool { return p.open[c].busy })
	end := func(why string, over func(c conversation) bool) {
		for _, c := range idle {
			if !p.open[c].ending && over(c) {
				total -= sizes[c]
				p.end(c)
				closed(c, sizes[c], why)
			}
		}
	}
	if limits.each > 0 {
		end(fmt.Sprintf("one program may use %s", limits.each), func(c conversation) bool { return sizes[c] > limits.each })
	}
	if limits.total > 0 {
		end(fmt.Sprintf("all together may use %s", limits.total), func(conversation) bool { return total > limits.total })
	}
}
