package query

import (
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Audit returns which records of the audit log the parameters select.
func Audit(value Values) (f storage.AuditFilter, err error) {
	f.By, _ = value("by")
	f.Target, _ = value("target")
	decision, _ := value("decision")
	switch f.Decision = audit.Decision(decision); f.Decision {
	case "", audit.Allowed, audit.Refused:
	default:
		return f, shoal.Invalid("query.decision", "must be allowed or refused")
	}
	acts, _ := value("act")
	if f.Acts, err = parseActs(acts); err != nil {
		return f, err
	}
	if f.Since, err = Time(value, "from"); err != nil {
		return f, err
	}
	f.Until, err = Time(value, "to")
	return f, err
}

// parseActs returns the acts that a list names, by their names or by their nouns.
func parseActs(list string) (out []audit.Act, err error) {
	if list == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		n := len(out)
		for _, act := range audit.Acts {
			noun, _, _ := strings.Cut(string(act), ".")
			if string(act) == name || noun == name {
				out = append(out, act)
			}
		}
		if len(out) == n {
			return nil, shoal.Invalid("query.act", "must be acts separated by commas, such as key.create, or a noun such as key for all of its acts; docs/audit.md lists them")
		}
	}
	return out, nil
}

// AuditBefore returns the number before which the page begins whose cursor has this position, 0 for the
// first page.
func AuditBefore(position string) (int64, error) {
	if position == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(position, 10, 64)
	if err == nil && n < 1 {
		err = strconv.ErrRange
	}
	return n, err
}
