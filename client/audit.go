package client

import (
	"context"
	"iter"
	"maps"
	"net/url"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
)

// AuditRecord is one record of the audit log. AuditHead is the number and the hash of the last record
// of a log, and AuditProblem a place at which a log is broken.
type (
	AuditRecord  = audit.Record
	AuditHead    = audit.Head
	AuditProblem = audit.Problem
)

// ParseAuditHead returns the head that AuditHead.String has written.
func ParseAuditHead(text string) (AuditHead, error) { return audit.ParseHead(text) }

// AuditOptions select records of an audit log. An empty field selects all.
type AuditOptions struct {
	// By is the id of a key, of a sign-in, or of an entity that acted or that an admin acted as.
	By string
	// Acts are acts, such as key.create, or nouns for all of their acts, such as key.
	Acts []string
	// Decision is allowed or refused.
	Decision string
	// Target is the id of what was changed.
	Target string
	// From and To limit the time; To is excluded.
	From, To *shoal.Time
}

func (o AuditOptions) query() url.Values {
	return filters(map[string]string{
		"by": o.By, "act": strings.Join(o.Acts, ","), "decision": o.Decision, "target": o.Target, "from": timeOrNone(o.From), "to": timeOrNone(o.To),
	})
}

// AuditCheck is the result of verifying an audit log: its head, how many records it has, and the broken
// place with the lowest number, nil if the log is intact. Places is the number of broken places.
type AuditCheck struct {
	Head    AuditHead     `json:"head"`
	Records int64         `json:"records"`
	Places  int64         `json:"brokenPlaces"`
	First   *AuditProblem `json:"firstBroken"`
}

// Audit lists the records of the session's audit log, the newest first. For admins, and for owners,
// admins and auditors of the session.
func (s *Session) Audit(ctx context.Context, o AuditOptions) iter.Seq2[AuditRecord, error] {
	return list[AuditRecord](ctx, s.client, call{op: "client.Audit", path: s.path("audit"), query: o.query()})
}

// VerifyAudit reads the session's audit log and checks that no record was changed or removed. noted is
// a head that was noted before and must still be in the log, zero for none. For the callers of Audit.
func (s *Session) VerifyAudit(ctx context.Context, noted AuditHead) (AuditCheck, error) {
	return s.client.verifyAudit(ctx, call{op: "client.VerifyAudit", path: s.path("audit")}, noted)
}

// Audit lists the records of the server's audit log, the newest first: of what belongs to no session.
// Admins only.
func (c *Client) Audit(ctx context.Context, o AuditOptions) iter.Seq2[AuditRecord, error] {
	return list[AuditRecord](ctx, c, call{op: "client.Audit", path: []string{"v1", "audit"}, query: o.query()})
}

// VerifyAudit is [Session.VerifyAudit] for the server's audit log. Admins only.
func (c *Client) VerifyAudit(ctx context.Context, noted AuditHead) (AuditCheck, error) {
	return c.verifyAudit(ctx, call{op: "client.VerifyAudit", path: []string{"v1", "audit"}}, noted)
}

func (c *Client) verifyAudit(ctx context.Context, in call, noted AuditHead) (out AuditCheck, err error) {
	var verifier *audit.Verifier
	query := url.Values{"limit": {strconv.Itoa(shoal.MaxPage)}}
	for {
		var got struct {
			page[AuditRecord]
			Head AuditHead `json:"head"`
		}
		in.query = maps.Clone(query)
		if err := c.do(ctx, in, &got); err != nil {
			return out, err
		}
		if verifier == nil {
			verifier, out.Head = audit.NewVerifier(got.Head, noted), got.Head
		}
		for _, r := range got.Items {
			verifier.Next(r)
		}
		if got.NextCursor == nil || *got.NextCursor == "" {
			out.First, out.Places, out.Records = verifier.End()
			return out, nil
		}
		query.Set("cursor", *got.NextCursor)
	}
}
