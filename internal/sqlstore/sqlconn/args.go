package sqlconn

import (
	"encoding/json"
	"fmt"

	"github.com/shoal-dev/shoal"
)

// bind converts arguments for the driver. The result is valid until the next call.
func (c *Conn) bind(args []any) []any {
	c.args = c.args[:0]
	for _, arg := range args {
		c.args = append(c.args, columnValue(arg))
	}
	return c.args
}

// columnValue converts a value to a type that every driver accepts: times are microseconds,
// nil pointers are NULL.
func columnValue(arg any) any {
	switch v := arg.(type) {
	case nil, string, int64, float64, bool, []byte:
		return v
	case int:
		return int64(v)
	case shoal.SessionID:
		return string(v)
	case shoal.EntityID:
		return string(v)
	case shoal.SpaceID:
		return string(v)
	case shoal.MessageID:
		return string(v)
	case shoal.PartID:
		return string(v)
	case shoal.KeyID:
		return string(v)
	case shoal.RunID:
		return string(v)
	case shoal.PendingID:
		return string(v)
	case shoal.RememberedID:
		return string(v)
	case shoal.PlanID:
		return string(v)
	case shoal.NodeID:
		return string(v)
	case shoal.RunnerID:
		return string(v)
	case shoal.InviteID:
		return string(v)
	case shoal.FileID:
		return string(v)
	case shoal.RendererName:
		return string(v)
	case *shoal.SessionID:
		return deref(v)
	case *shoal.EntityID:
		return deref(v)
	case *shoal.RunID:
		return deref(v)
	case *shoal.KeyID:
		return deref(v)
	case *shoal.SpaceID:
		return deref(v)
	case *shoal.MessageID:
		return deref(v)
	case *shoal.PartID:
		return deref(v)
	case *string:
		return deref(v)
	case *int64:
		if v == nil {
			return nil
		}
		return *v
	case shoal.Time:
		return v.UnixMicro()
	case *shoal.Time:
		if v == nil {
			return nil
		}
		return v.UnixMicro()
	case shoal.SessionStatus:
		return string(v)
	case shoal.SpaceStatus:
		return string(v)
	case shoal.MessageStatus:
		return string(v)
	case shoal.RunStatus:
		return string(v)
	case shoal.PendingKind:
		return string(v)
	case shoal.PendingStatus:
		return string(v)
	case shoal.PlanStatus:
		return string(v)
	case shoal.SessionRole:
		return string(v)
	case shoal.EntityKind:
		return string(v)
	case shoal.EventType:
		return string(v)
	case shoal.Reason:
		return string(v)
	case shoal.Role:
		return string(v)
	case json.RawMessage:
		if len(v) == 0 {
			return "{}"
		}
		return string(v)
	}
	panic(fmt.Sprintf("sqlstore: no column for a %T", arg))
}

func deref[T ~string](p *T) any {
	if p == nil {
		return nil
	}
	return string(*p)
}
