package anthropic_test

import (
	"net/http"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

func TestOverflow(t *testing.T) {
	wiretest.Overflows(t,
		func(v *wiretest.Vendor) agent.Model { return (&vendor{v}).model(t) },
		wiretest.Refuses(http.StatusBadRequest, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}`, "Content-Type", "application/json"),
		short)
}
