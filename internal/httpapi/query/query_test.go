package query_test

import (
	"fmt"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/httpapi/query"
)

// values are the parameters of a request.
func values(v map[string]string) query.Values {
	return func(name string) (string, bool) {
		text, given := v[name]
		return text, given
	}
}

func TestAudit(t *testing.T) {
	f, err := query.Audit(values(map[string]string{"by": "ann", "act": "signin,key.create", "decision": "refused", "target": "key_1", "from": "2026-11-20", "to": "2026-11-20T10:00:00Z"}))
	if err != nil || fmt.Sprintf("%s %s %s %s %s %s", f.By, f.Acts, f.Decision, f.Target, f.Since, f.Until) != "ann [signin.create signin.end key.create] refused key_1 2026-11-20T00:00:00.000Z 2026-11-20T10:00:00.000Z" {
		t.Errorf("got %+v, %v", f, err)
	}
	if f, err := query.Audit(values(nil)); err != nil || f.Acts != nil || f.Since != nil || f.Decision != "" {
		t.Errorf("without parameters: %+v, %v", f, err)
	}
	for name, text := range map[string]string{"act": "key.", "decision": "maybe", "from": "soon", "to": "12"} {
		if _, err := query.Audit(values(map[string]string{name: text})); shoal.KindOf(err) != shoal.InvalidArgument {
			t.Errorf("%s=%s: %v", name, text, err)
		}
	}
	for text, want := range map[string]int64{"": 0, "12": 12} {
		if n, err := query.AuditBefore(text); err != nil || n != want {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	for _, text := range []string{"0", "-1", "x", "99999999999999999999"} {
		if _, err := query.AuditBefore(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
