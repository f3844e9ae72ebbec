package google_test

import (
	"net/http"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

func TestOverflow(t *testing.T) {
	wiretest.Overflows(t,
		func(v *wiretest.Vendor) agent.Model { return (&vendor{v}).model(t) },
		wiretest.Refuses(http.StatusBadRequest, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, "Content-Type", "application/json"),
		short)
}
