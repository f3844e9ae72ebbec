package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inboxBugs are defects in how inboxes are stored.
var inboxBugs = []string{
	"a range is folded over a gap",
	"an acknowledged mention comes again after a fold",
	"a composite message that completes late is skipped",
	"the messages since the last stride are not counted as own",
}

var inboxPlants = []plant{
	{
		"internal/sqlstore/coresql/ack.go", "		if o.last < add.first-1 {\n",
		"		if o.last < add.first-rigEither(int64(2), 1, rigHas(\"a range is folded over a gap\")) {\n",
	},
	{
		"internal/sqlstore/coresql/ack.go", "	return t.storePosition(session, entity, w, max(to, w.upTo), own, acked, ranges)\n",
		`	if rigHas("an acknowledged mention comes again after a fold") {
		if _, err := t.c.Exec("UPDATE inbox_entries SET acked_at = 0 WHERE session_id = $1 AND entity_id = $2 AND space_id = $3 AND acked_at <> 0 AND arrival = $4", session, entity, w.space, to); err != nil {
			return err
		}
	}
	return t.storePosition(session, entity, w, max(to, w.upTo), own, acked, ranges)
`,
	},
	{
		"internal/sqlstore/coresql/places.go", "		p.arrival = last + 1\n",
		"		p.arrival = rigEither(m.Seq, last+1, rigHas(\"a composite message that completes late is skipped\"))\n",
	},
	{
		"internal/sqlstore/coresql/positions.go", "w.end() - w.upTo - w.own - w.tail - w.acked }",
		"w.end() - w.upTo - w.own - rigEither(0, w.tail, rigHas(\"the messages since the last stride are not counted as own\")) - w.acked }",
	},
}

// The random courses find each of these defects: one course in every test run, and each of
// them in `make torture`.
func TestCoursesFindInboxBugs(t *testing.T) {
	list, err := overlay(t.TempDir(), inboxPlants)
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "sqlstore.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", binary, "-overlay", list, "./internal/sqlstore")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	play := func(bug, course string) (string, error) {
		run := exec.CommandContext(t.Context(), binary, "-test.run", "^TestSQLite$/^inbox_courses$/^random_course_"+course)
		run.Dir, run.Env = filepath.Join(root, "internal", "sqlstore"), append(os.Environ(), "RIG_BUG="+bug)
		out, err := run.CombinedOutput()
		return string(out), err
	}
	if out, err := play("", "0"); err != nil || strings.Contains(out, "no tests to run") {
		t.Fatalf("without a bug: %v\n%s", err, out)
	}
	for _, bug := range inboxBugs {
		t.Run(bug, func(t *testing.T) {
			course := "0"
			if os.Getenv("SHOAL_PLANTED") == "all" {
				course = "."
			}
			if out, err := play(bug, course); err == nil || !strings.Contains(out, "--- FAIL: TestSQLite/inbox_courses/random_course_") {
				t.Errorf("the courses pass with the bug, or do not run: %v\n%s", err, out)
			}
		})
	}
}
