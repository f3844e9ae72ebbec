package runsql

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// storedTrigger is a trigger with all its fields: the payload byte for byte, and the time in
// microseconds.
type storedTrigger struct {
	plainTrigger
	ScheduledAt int64           `json:",omitempty"`
	Payload     json.RawMessage `json:",omitempty"`
}

type plainTrigger shoal.Trigger

// EncodeTrigger returns a trigger for its column.
func EncodeTrigger(t shoal.Trigger) (string, error) {
	s := storedTrigger{plainTrigger: plainTrigger(t), Payload: t.Payload}
	if !t.ScheduledAt.IsZero() {
		s.ScheduledAt = t.ScheduledAt.UnixMicro()
	}
	return sqlconn.Encode(s)
}

// DecodeTrigger reads a trigger from column i.
func DecodeTrigger(r *sqlconn.Rows, i int) shoal.Trigger {
	var s storedTrigger
	r.Decode(r.Text(i), &s)
	t := shoal.Trigger(s.plainTrigger)
	t.Payload, t.ScheduledAt = s.Payload, shoal.Time{}
	if s.ScheduledAt != 0 {
		t.ScheduledAt = sqlconn.MicroTime(s.ScheduledAt)
	}
	return t
}
