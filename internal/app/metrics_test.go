package app

import (
	"flag"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updateMetrics = flag.Bool("update-metrics", false, "write testdata/metrics.txt anew")

// Dashboards and alerts name metrics: what a new server shows is what is in
// testdata/metrics.txt, with kind and help.
func TestMetricsKeepTheirNames(t *testing.T) {
	s, err := Start(t.Context(), Config{Data: t.TempDir(), Addr: "127.0.0.1:0", MetricsAddr: "127.0.0.1:0", Keys: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	res, err := http.Get(s.MetricsURL()) //nolint:noctx // of a server that is there
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			got.WriteString(line)
		}
	}
	const file = "testdata/metrics.txt"
	if *updateMetrics {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}
