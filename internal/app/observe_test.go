package app

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
)

// The address for metrics answers without a key, and nothing else there does.
func TestMetricsHaveAnAddress(t *testing.T) {
	s, err := Start(t.Context(), Config{Data: t.TempDir(), Addr: "127.0.0.1:0", MetricsAddr: "127.0.0.1:0", Keys: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	get := func(url string) (int, string) {
		res, err := http.Get(url) //nolint:noctx // of a server that is there
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	status, text := get(s.MetricsURL())
	if status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	for _, name := range []string{
		"go_goroutines", "process_resident_memory_bytes", "shoal_build_info", "shoal_commit_seconds_count", "shoal_write_queue", "shoal_waits_open", "shoal_streams_open",
		"shoal_followers_open", "shoal_connections_open", "shoal_connections_parked", "shoal_runs_executing", "shoal_body_bytes", "shoal_messages_posted_total", "shoal_writes_rejected_total",
	} {
		if !strings.Contains(text, "\n"+name) {
			t.Errorf("the metrics lack %s", name)
		}
	}
	if status, _ := get(strings.TrimSuffix(s.MetricsURL(), "/metrics") + "/v1/sessions"); status != 404 {
		t.Errorf("something else there answers %d", status)
	}
	if status, _ := get(s.URL() + "/metrics"); status != 401 {
		t.Errorf("the server's own address answers %d without a key", status)
	}
}

// Whatever is logged, the secrets that the server knows are not in it.
func TestTheLogHoldsNoSecret(t *testing.T) {
	var out bytes.Buffer
	t.Setenv("CANARY_ENV", "canary-of-the-environment")
	c, err := Config{
		Data: t.TempDir(), Database: "postgres://u:canary-password@127.0.0.1/x", AllowEnv: []string{"CANARY_ENV"}, Log: slog.New(slog.NewTextHandler(&out, nil)),
		Keys: func(name string) string { return "canary-" + name },
	}.complete()
	if err != nil {
		t.Fatal(err)
	}
	c.Log.Error("canary-OPENAI_API_KEY", "error", errors.New("said canary-password and "+os.Getenv("CANARY_ENV")), "x", "canary-GOOGLE_API_KEY")
	if text := out.String(); strings.Contains(text, "canary") || !strings.Contains(text, "said [hidden] and [hidden]") {
		t.Errorf("the log holds %s", text)
	}
}
