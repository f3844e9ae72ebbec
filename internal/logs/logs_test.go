package logs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/logs"
)

func open(t *testing.T, o logs.Options, secrets *logs.Secrets) (*slog.Logger, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	log, err := logs.New(&out, o)
	if err != nil {
		t.Fatal(err)
	}
	return logs.Redacting(log, secrets), &out
}

const random = "kJ8Zr3vQ1xN5bT7mW2yC4hD6fG9sL0pA_uE-iO3aRtY" // 43 characters

// A line contains no secret, in any position; the text around it is kept.
func TestSecretsAreTakenOut(t *testing.T) {
	for _, format := range logs.Formats {
		secrets := &logs.Secrets{}
		secrets.Add("canary-of-the-environment", "päss wörd/12", "short", "")
		log, out := open(t, logs.Options{Format: format, Level: "debug"}, secrets)
		for i, tt := range []struct {
			write func()
			stays string
		}{
			{func() { log.Info("a key shoal_" + random + " came") }, "came"},
			{func() { log.Info("x", "path", "/v1/shoal_"+random+"/spaces") }, "/v1/shoal_[hidden]/spaces"},
			{func() { log.Info("x", "cause", "shoal-console_"+random) }, "cause"},
			{func() { log.Info("x", "header", "Authorization: Bearer "+random[:12]) }, "Bearer [hidden]"},
			{func() { log.Info("x", "basic", "Basic dXNlcjpwYXNz") }, "basic"},
			{func() { log.Info("x", "error", errors.New("dial postgres://shoal:canaryPassword@db/x: refused")) }, "postgres://shoal:[hidden]@db/x: refused"},
			{func() { log.Info("x", "dsn", "host=db password=canaryPassword user=x") }, "user=x"},
			{func() { log.Info("x", "url", "http://127.0.0.1/#login="+random) }, "#login=[hidden]"},
			{func() { log.Info("x", "url", "http://127.0.0.1/console/"+random) }, "/console/[hidden]"},
			{func() { log.Info("x", "sent", "sk-proj-"+random) }, "sent"},
			{func() { log.Info("x", "env", "canary-of-the-environment") }, "env"},
			{func() { log.Info("x", "in a URL", "/x?q=p%C3%A4ss+w%C3%B6rd%2F12&y=1") }, "y=1"},
			{func() { log.Info("x", "password", "p1", "Set-Cookie", "c1", "apiKey", "k1") }, "x"},
			{func() { log.Info("x", slog.Group("request", "token", "c1", "path", "/v1")) }, "/v1"},
			{func() { log.With("cookie", "c1", "value", "canary-of-the-environment").Info("with") }, "with"},
			{func() {
				log.WithGroup("g").Info("grouped", "error", fmt.Errorf("wrapped: %w", errors.New("shoal_"+random)))
			}, "wrapped: shoal_[hidden]"},
			{func() { log.Info("x", "value", struct{ Key string }{"shoal_" + random}) }, "value"},
			{func() { log.Info("x", "bytes", json.RawMessage(`{"a":"shoal_`+random+`"}`)) }, "shoal_[hidden]"},
			{func() { log.Info("x", "lazy", lazy("shoal_"+random)) }, "lazy"},
		} {
			out.Reset()
			tt.write()
			line := out.String()
			for _, secret := range []string{random, random[:12], "canary", "wörd", "w%C3%B6rd", `"p1"`, "=p1", `"c1"`, "=c1", `"k1"`, "=k1", "dXNlcjpwYXNz"} {
				if strings.Contains(line, secret) {
					t.Errorf("%s, line %d contains %s: %s", format, i, secret, line)
				}
			}
			if !strings.Contains(line, tt.stays) {
				t.Errorf("%s, line %d lacks %s: %s", format, i, tt.stays, line)
			}
		}
	}
}

type lazy string

func (l lazy) LogValue() slog.Value { return slog.StringValue(string(l)) }

// Text that is not a secret is written unchanged: ids, paths, numbers, long words.
func TestTheRestStays(t *testing.T) {
	log, out := open(t, logs.Options{Format: "json"}, nil)
	log.Info("a call failed", "request", "req_01m81fph91ahaw2f2fwmsx", "path", "/v1/sessions/default/spaces/a-rather-long-name-of-a-space-that-somebody-has-chosen",
		"key", "key_01m81fph91ahaw2f2fwmsx", "status", 500, "tokens", 12, "none", nil, "error", context.Canceled, "took", 3)
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"msg": "a call failed", "level": "INFO", "request": "req_01m81fph91ahaw2f2fwmsx", "key": "key_01m81fph91ahaw2f2fwmsx", "status": 500.,
		"path": "/v1/sessions/default/spaces/a-rather-long-name-of-a-space-that-somebody-has-chosen", "error": "context canceled", "took": 3., "none": "", "tokens": 12.,
	} {
		if line[name] != want {
			t.Errorf("%s = %v, want %v", name, line[name], want)
		}
	}
	if at := fmt.Sprint(line["time"]); len(at) != len("2026-11-20T10:00:00.000Z") || !strings.HasSuffix(at, "Z") {
		t.Errorf("time = %s", at)
	}
}

// Levels and formats accept exactly their names.
func TestOptions(t *testing.T) {
	for level, want := range map[string]string{"": "iwe", "debug": "diwe", "info": "iwe", "warn": "we", "error": "e"} {
		log, out := open(t, logs.Options{Level: level}, nil)
		log.Debug("d")
		log.Info("i")
		log.Warn("w")
		log.Error("e")
		got := ""
		for line := range strings.Lines(out.String()) {
			got += line[strings.Index(line, "msg=")+4:][:1]
		}
		if got != want {
			t.Errorf("level %q writes %q, want %q", level, got, want)
		}
	}
	for _, o := range []logs.Options{{Format: "xml"}, {Level: "loud"}, {Level: "info+2"}} {
		if _, err := logs.New(&bytes.Buffer{}, o); err == nil || !strings.Contains(err.Error(), "one of") {
			t.Errorf("%+v: %v, want an error that lists the valid values", o, err)
		}
	}
}

// For any text, the output has no secret and stays on one line.
func FuzzRedact(f *testing.F) {
	f.Add("before", "after")
	f.Add("Bearer ", "://a:b@c")
	f.Add(`"password=`, "&")
	f.Fuzz(func(t *testing.T, before, after string) {
		secrets := &logs.Secrets{}
		secrets.Add("canary-1234")
		log, out := open(t, logs.Options{Format: "json"}, secrets)
		log.Info(before+"canary-1234"+after, "a", before, "b", "canary-1234"+after)
		if bytes.Contains(out.Bytes(), []byte("canary-1234")) && !strings.Contains(before+after, "canary") {
			t.Errorf("the secret is in %s", out)
		}
		if bytes.Count(out.Bytes(), []byte("\n")) != 1 || !json.Valid(out.Bytes()) {
			t.Errorf("not one line of JSON: %q", out)
		}
	})
}
