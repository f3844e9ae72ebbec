package anthropic_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "sk-ant-secret"

// vendor is a server that speaks the provider's wire from a script.
type vendor struct{ *wiretest.Vendor }

func newVendor(t *testing.T, answer http.HandlerFunc) *vendor {
	return &vendor{wiretest.NewVendor(t, answer)}
}

func (v *vendor) model(t *testing.T) agent.Model {
	return anthropic.New("claude-test", anthropic.Options{
		APIKey: testKey, BaseURL: v.URL, HTTPClient: wiretest.NewClient(t),
	})
}

// events writes the data of events as a stream; the name of each is its type.
func events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		_, rest, _ := strings.Cut(d, `"type":"`)
		name, _, _ := strings.Cut(rest, `"`)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", name, d)
	}
	return b.String()
}
