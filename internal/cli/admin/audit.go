package admin

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
)

// AuditCommand is shoal audit.
type AuditCommand struct {
	List   auditListCmd   `cmd:"" name:"list" aliases:"ls" default:"withargs" help:"List the last records, the newest first."`
	Tail   auditTailCmd   `cmd:"" help:"Print the last records, the newest at the end, and then each new one."`
	Verify auditVerifyCmd `cmd:"" help:"Check that no record was changed or removed, and name the first that was."`
}

// auditLog says which log a command is about.
type auditLog struct {
	Server bool `name:"of-server" help:"The log of what belongs to no session, such as admin keys and deleted sessions; requires --admin."`
}

// auditFilter selects records.
type auditFilter struct {
	auditLog
	By       string   `help:"Only what this key, sign-in or participant did, or an admin who acted as this participant." placeholder:"ID" complete:"-"`
	Act      []string `help:"Only these acts, such as key.create, or key for all acts with keys." placeholder:"ACT" complete:"-"`
	Decision string   `help:"Only what was allowed, or refused." enum:",allowed,refused" default:"" placeholder:"allowed|refused"`
	Target   string   `help:"Only acts on the object with this id." placeholder:"ID" complete:"-"`
	Since    string   `help:"Only acts since then: 12h, 30d or a time such as 2027-01-31T00:00:00Z." placeholder:"WHEN"`
	Until    string   `help:"Only acts before then." placeholder:"WHEN"`
}

// records returns the records that are selected, the newest first.
func (f *auditFilter) records(ctx context.Context, sh *cli.Shell) (iter.Seq2[client.AuditRecord, error], error) {
	o := client.AuditOptions{By: f.By, Acts: f.Act, Decision: f.Decision, Target: f.Target}
	for _, limit := range []struct {
		flag, text string
		to         **shoal.Time
	}{{"--since", f.Since, &o.From}, {"--until", f.Until, &o.To}} {
		if limit.text == "" {
			continue
		}
		at, err := cli.ParseTime(limit.flag, limit.text, time.Now(), -1)
		if err != nil {
			return nil, err
		}
		*limit.to = &at
	}
	session, err := sh.ConnectAsManager()
	if err != nil {
		return nil, err
	}
	if !f.Server {
		return session.Audit(ctx, o), nil
	}
	server, err := sh.Client()
	if err != nil {
		return nil, err
	}
	return server.Audit(ctx, o), nil
}

var auditHead = []string{"NO.", "WHEN", "WHO", "ACT", "ON", "DETAILS", "FROM"}

func auditRow(o *cli.Output, r client.AuditRecord) []string {
	act := string(r.Act)
	if r.Count > 1 {
		act += fmt.Sprintf(" ×%d", r.Count)
	}
	return []string{cli.Itoa(r.Seq), o.FormatTime(&r.At, "-"), auditor(r), act, r.Target.ID, auditDetails(r), cmp.Or(r.Address, "-")}
}

// auditor says who acted.
func auditor(r client.AuditRecord) string {
	who := string(r.Role)
	if r.EntityID != nil {
		who = string(*r.EntityID)
	}
	if r.KeyID != "" {
		who += " (" + string(r.KeyID) + ")"
	}
	if r.ActingAs != nil {
		who += " as " + string(*r.ActingAs)
	}
	return who
}

func auditDetails(r client.AuditRecord) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(r.Details)) {
		out = append(out, name+"="+r.Details[name])
	}
	return cmp.Or(strings.Join(out, " "), "-")
}

type auditListCmd struct {
	auditFilter
	Limit int `name:"limit" short:"n" help:"At most this many records; 0 for all." default:"50" placeholder:"N"`
}

// Run lists records.
func (c *auditListCmd) Run(ctx context.Context, sh *cli.Shell) error {
	if c.Limit < 0 {
		return shoal.E("", cli.KindUsage, "--limit must not be negative")
	}
	records, err := c.records(ctx, sh)
	if err != nil {
		return err
	}
	all, err := newest(records, c.Limit)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, r := range all.Items {
		rows = append(rows, auditRow(sh.Output, r))
	}
	return sh.Output.PrintTable(all, auditHead, rows...)
}

// newest returns at most n records, or all if n is 0.
func newest(records iter.Seq2[client.AuditRecord, error], n int) (cli.List[client.AuditRecord], error) {
	return cli.Collect(func(yield func(client.AuditRecord, error) bool) {
		left := n
		for r, err := range records {
			if !yield(r, err) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	})
}

type auditTailCmd struct {
	auditFilter
	Limit  int           `name:"limit" short:"n" help:"Begin with this many records." default:"10" placeholder:"N"`
	Follow bool          `help:"Wait for new records; --no-follow ends after the newest one." default:"true" negatable:""`
	Every  time.Duration `help:"How often to ask for new records." default:"1s" placeholder:"TIME"`
}

// Run prints records until ctx ends or nobody reads the output any more. With --no-follow it ends
// after the newest record.
func (c *auditTailCmd) Run(ctx context.Context, sh *cli.Shell) error {
	if c.Limit < 0 || c.Every < 100*time.Millisecond {
		return shoal.E("", cli.KindUsage, "--limit must not be negative, and --every at least 100ms")
	}
	last, first := int64(0), true
	tick := time.NewTicker(c.Every)
	defer tick.Stop()
	for {
		records, err := c.records(ctx, sh)
		if err != nil {
			return err
		}
		var fresh []client.AuditRecord
		for r, err := range records {
			if err != nil {
				return err
			}
			if r.Seq <= last || first && len(fresh) == c.Limit {
				last = max(last, r.Seq)
				break
			}
			fresh = append(fresh, r)
		}
		for _, r := range slices.Backward(fresh) {
			last = r.Seq
			if err := printRecord(sh.Output, r); err != nil {
				return err
			}
		}
		first = false
		if !c.Follow || sh.Output.Closed() {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// printRecord prints a record as one line.
func printRecord(o *cli.Output, r client.AuditRecord) error {
	if o.JSON {
		return o.PrintObject(r)
	}
	row := auditRow(o, r)
	row[1] = cli.Clock(r.At.Time, time.Now())
	return o.PrintText(strings.Join(row, "  "))
}

type auditVerifyCmd struct {
	auditLog
	Head string `help:"A head that was printed before: check that the log still contains it." placeholder:"NO.:HASH" complete:"-"`
}

// Run verifies the log. It fails if the log is broken.
func (c *auditVerifyCmd) Run(ctx context.Context, sh *cli.Shell) error {
	var noted client.AuditHead
	if c.Head != "" {
		var err error
		if noted, err = client.ParseAuditHead(c.Head); err != nil {
			return shoal.E("", cli.KindUsage, "--head must be what `shoal audit verify` has printed, such as 12:9f86d0…")
		}
	}
	session, err := sh.ConnectAsManager()
	if err != nil {
		return err
	}
	verify := session.VerifyAudit
	if c.Server {
		server, err := sh.Client()
		if err != nil {
			return err
		}
		verify = server.VerifyAudit
	}
	got, err := verify(ctx, noted)
	if err != nil {
		return err
	}
	if err := sh.Output.PrintTable(got, []string{"RECORDS", "BROKEN PLACES", "HEAD"}, []string{cli.Itoa(got.Records), cli.Itoa(got.Places), got.Head.String()}); err != nil {
		return err
	}
	if got.First == nil {
		sh.Output.Note("no record was changed or removed; keep the head elsewhere, and compare it with --head later")
		return nil
	}
	return shoal.E("", shoal.Conflict, fmt.Sprintf("The audit log is broken. %s Compare the file of --audit-log, or a backup of the database.", got.First))
}
