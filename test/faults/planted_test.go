package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// quick are the bugs that every test run looks for, as a check of the tests themselves.
// `make torture` looks for all bugs.
var quick = append([]string{
	"published before the commit", "the idempotency key is ignored", "a replay is off by one", "the inbox cursor moves when a batch is sent",
}, slices.Concat(names(inboxBugs), names(streamBugs), names(coderBugs), names(auditBugs))...)

// catch runs the test that must find a bug. ran is false if it cannot run here.
func catch(t *testing.T, bug string, seed uint64) (o outcome, ran bool) {
	t.Helper()
	if slices.Contains(names(streamBugs), bug) {
		return failTest(t, bug, "internal/hub", "TestStreamingBetweenNodes"), true
	}
	if slices.Contains(names(auditBugs), bug) {
		return failTest(t, bug, "internal/hub", "TestActsAreRecorded"), true
	}
	if test := terminalTests[bug]; test != "" {
		return failTest(t, bug, "internal/wakehook", test), true
	}
	if by, ok := agentTests[bug]; ok {
		passesTest(t, by.dir, by.test)
		return failTest(t, bug, by.dir, by.test), true
	}
	env := []string{"RIG_BUG=" + bug}
	s := program.NewServer(t, plantedBinary(t))
	s.Env = env
	killAtRandom := func(rounds, agents int) (outcome, bool) {
		o, w := play(t, s, round{rounds: rounds, agents: agents, seed: seed, strike: func(int) []string {
			s.Kill()
			return nil
		}})
		w.Close()
		return o, true
	}
	switch bug {
	case "a turn is not remembered":
		return killCoders(t, env, coderPairs([]string{"prompted", "said"}, []string{"runner"}), time.Second, 0, 2, seed), true
	case "a program takes its own run":
		return killCoders(t, env, coderPairs([]string{"at work"}, []string{"silence"}), time.Second, 3*time.Second, 1, seed), true
	case "synchronous is NORMAL":
		return cutPower(t, bug, plantedBinary(t), env, 5, seed)
	case "acknowledged before the commit":
		s.Env = nil // the keys of the world's clients must be stored
		s.Start(t)
		w := newWorld(t, s, seed, 0)
		for n := int64(0); n < 5 && len(w.Found) == 0; n++ {
			s.Kill()
			s.Env = append(env, dieAt("before a commit", 30+20*n, 20*time.Millisecond))
			s.Start(t)
			w.live(t, reachWithin, s.Kill)
			s.Env = nil
			s.Start(t)
			w.Check(t, false)
			o.count++
		}
		w.Close()
		o.found = w.Found
		return o, true
	case "published before the commit", "read before subscribed":
		return wakeUp(t, s, 200, seed), true
	case "a failed commit counts as successful":
		dir := t.TempDir()
		if !mount(t, bug, dir, "-t", "tmpfs", "-o", "size="+fullDisk, "tmpfs") {
			return o, false
		}
		return fillRepeatedly(t, plantedBinary(t), env, dir, 3, seed), true
	case "the generation of a lease is not checked":
		return stopDuringRuns(t, plantedBinary(t), env, 4, seed), true
	case "a required snapshot is missing", "a cursor without lineage":
		return checkRestored(t, s, ofDirectory(s, t.TempDir()), seed), true
	case "the checksum of a message is ignored":
		return damageFiles(t, s, []fileFault{{"noise", false, scribble}}, 20, seed)[0], true
	case "the session lock is not taken":
		return failTest(t, bug, storePackage, "TestPostgresSessions"), true
	case "a range is folded over a gap", "an acknowledged mention comes again after a fold",
		"a composite message that completes late is skipped", "the messages since the last stride are not counted as own":
		return failTest(t, bug, storePackage, inboxCourses()), true
	case "the indexer skips a later commit":
		return failTest(t, bug, storePackage, "TestIndexContainsMessagesThatCommitLate"), true
	case "the output of a failed attempt remains":
		return killAtRandom(8, 3)
	case "a wait leaks a goroutine", "a call leaves a file open", "a response stays in memory":
		return leaks{rounds: 2, seed: seed}.play(t, s), true
	default:
		return killAtRandom(12, 0)
	}
}

// inboxCourses names the first random course of inboxes, or all of them in `make torture`.
func inboxCourses() string {
	if os.Getenv("SHOAL_PLANTED") == "all" {
		return "TestSQLite/inbox_courses/random_course_"
	}
	return "TestSQLite/inbox_courses/random_course_0"
}

// storePackage is the directory of the store.
const storePackage = "internal/sqlstore"

// failTest runs a test of a package, or those of its subtests that begin like the name, with a
// bug. Two servers that write to one database show some of these bugs, and a server
// with the only bus that there is refuses a second one.
func failTest(t *testing.T, bug, dir, test string) (o outcome) {
	t.Helper()
	text, err := runTest(t, bug, dir, test)
	for line := range strings.Lines(text) {
		if strings.Contains(line, "--- FAIL: "+test) {
			o.found = append(o.found, strings.TrimSpace(line))
		}
	}
	if err != nil && len(o.found) == 0 {
		t.Fatalf("%s with the bug %q: %v\n%s", test, bug, err, text)
	}
	o.count = 1
	return o
}

// runTest runs a test of a package, without a bug if bug is empty, and returns its output.
func runTest(t *testing.T, bug, dir, test string) (string, error) {
	t.Helper()
	binary, err := buildTest(dir)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = "^" + part
		if i == 0 {
			parts[i] += "$"
		}
	}
	run := exec.CommandContext(t.Context(), binary, "-test.run", strings.Join(parts, "/"))
	run.Dir, run.Env = filepath.Join(root, dir), append(os.Environ(), "RIG_BUG="+bug)
	text, err := run.CombinedOutput()
	return string(text), err
}

// The tests that must find bugs pass without one.
func TestTestsPassWithoutBugs(t *testing.T) {
	t.Setenv("SHOAL_NODE_SEEDS", "30")
	for dir, test := range map[string]string{storePackage: "TestSQLite/inbox_courses/random_course_0", "internal/hub": "TestStreamingBetweenNodes|TestActsAreRecorded"} {
		passesTest(t, dir, test)
	}
}

// passesTest runs a test of a package, which must pass without a bug.
func passesTest(t *testing.T, dir, test string) {
	t.Helper()
	if text, err := runTest(t, "", dir, test); err != nil || strings.Contains(text, "no tests to run") {
		t.Errorf("%s of %s without a bug: %v\n%s", test, dir, err, text)
	}
}

// The tests find every planted bug.
func TestPlanted(t *testing.T) {
	seed := randomSeed(t)
	caught, of := 0, 0
	for _, bug := range bugs {
		if os.Getenv("SHOAL_PLANTED") != "all" && !slices.Contains(quick, bug.name) {
			continue
		}
		t.Run(strings.ReplaceAll(bug.name, " ", "_"), func(t *testing.T) {
			o, ran := catch(t, bug.name, seed)
			if !ran {
				return
			}
			of++
			if len(o.found) == 0 {
				t.Errorf("SHOAL_FAULT_SEED=%d: no finding for a server with the bug %q (%s) after %d rounds", seed, bug.name, bug.note, o.count)
				return
			}
			caught++
			t.Logf("found after %d rounds: %s", o.count, o.found[0])
		})
	}
	table.Lock()
	defer table.Unlock()
	table.rows = append(table.rows, outcome{fault: "planted bugs", note: fmt.Sprintf("%d of %d were found", caught, of)})
}
