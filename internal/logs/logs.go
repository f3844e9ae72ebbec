// Package logs writes log lines for operators, without secrets.
//
//	log, err := logs.New(os.Stderr, logs.Options{Format: "json", Level: "debug"})
//	secrets := &logs.Secrets{}
//	secrets.Add(databasePassword)
//	log = logs.Redacting(log, secrets)
//
// Guarantees:
//   - All text of a redacting logger passes through one function that removes secrets:
//     attributes with a telltale name, text that looks like a key, a password in a URL or the
//     code of a link, and every value that was added to Secrets, in any position.
//   - Times have the format of all of Shoal: UTC with milliseconds.
//
// Secrets that were not added and that do not look like secrets cannot be detected: server
// code must not log them, and test/secrets checks that it does not.
package logs

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
)

// Options select the format and the level. The zero value means text from level info.
type Options struct {
	// Format is text or json.
	Format string
	// Level is the lowest level that is written: debug, info, warn or error.
	Level string
}

// Formats and Levels are the valid values of Options, the defaults first.
var (
	Formats = []string{"text", "json"}
	Levels  = []string{"info", "debug", "warn", "error"}
)

// New returns a logger that writes to w. The error names the invalid option.
func New(w io.Writer, o Options) (*slog.Logger, error) {
	var level slog.Level
	if o.Level != "" {
		if err := level.UnmarshalText([]byte(o.Level)); err != nil || strings.ContainsAny(o.Level, "+-") {
			return nil, fmt.Errorf("invalid log level %q: use one of %s", o.Level, strings.Join(Levels, ", "))
		}
	}
	handler := &slog.HandlerOptions{Level: level, ReplaceAttr: moment}
	switch o.Format {
	case "", "text":
		return slog.New(slog.NewTextHandler(w, handler)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, handler)), nil
	}
	return nil, fmt.Errorf("invalid log format %q: use one of %s", o.Format, strings.Join(Formats, ", "))
}

// Redacting returns a logger that writes to log without secrets: the values of secrets, which
// may be nil, and text that looks like a secret.
func Redacting(log *slog.Logger, secrets *Secrets) *slog.Logger {
	return slog.New(redactor{log.Handler(), secrets})
}

// moment formats the time of a line.
func moment(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		a.Value = slog.StringValue(a.Value.Time().UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	return a
}

// redactor is a handler that removes secrets before it calls the next one.
type redactor struct {
	next    slog.Handler
	secrets *Secrets
}

// Enabled implements [slog.Handler].
func (h redactor) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (h redactor) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, h.secrets.redact(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, out)
}

// WithAttrs implements [slog.Handler].
func (h redactor) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return redactor{h.next.WithAttrs(clean), h.secrets}
}

// WithGroup implements [slog.Handler].
func (h redactor) WithGroup(name string) slog.Handler {
	return redactor{h.next.WithGroup(name), h.secrets}
}

// attr returns an attribute without secrets. Values other than numbers, times and booleans
// become text.
func (h redactor) attr(a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindBool, slog.KindDuration, slog.KindFloat64, slog.KindInt64, slog.KindTime, slog.KindUint64:
		return a
	case slog.KindGroup:
		var clean []any
		for _, member := range a.Value.Group() {
			clean = append(clean, h.attr(member))
		}
		return slog.Group(a.Key, clean...)
	}
	if isSecretName(a.Key) {
		return slog.String(a.Key, hidden)
	}
	return slog.String(a.Key, h.secrets.redact(text(a.Value)))
}

// text returns the text of a value.
func text(v slog.Value) string {
	if v.Kind() == slog.KindString {
		return v.String()
	}
	x := v.Any()
	if x == nil {
		return ""
	}
	if kind := reflect.TypeOf(x); kind.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.Uint8 {
		return fmt.Sprintf("%s", x)
	}
	return fmt.Sprintf("%+v", x)
}
