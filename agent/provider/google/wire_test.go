package google_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/google"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "gem-secret"

// vendor is a server that speaks the provider's wire from a script.
type vendor struct{ *wiretest.Vendor }

func newVendor(t *testing.T, answer http.HandlerFunc) *vendor {
	return &vendor{wiretest.NewVendor(t, answer)}
}

func (v *vendor) model(t *testing.T) agent.Model {
	return google.New("gemini-test", google.Options{
		APIKey: testKey, BaseURL: v.URL, HTTPClient: wiretest.NewClient(t),
	})
}

// events writes the data of events as a stream.
func events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		fmt.Fprintf(&b, "data: %s\r\n\r\n", d)
	}
	return b.String()
}
