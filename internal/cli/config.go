package cli

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/configfile"
)

// Sources resolves the flags that the command line does not set: from the environment, then
// from the configuration file.
type Sources struct {
	read bool // whether load has run
	path string
	file *configfile.File // nil without a usable file
	err  error            // why the file cannot be used
}

// worksWithoutFile lists the commands that ignore errors of the configuration file.
var worksWithoutFile = []string{"version", "doctor", "completion", "__complete"}

// Validate implements kong.Resolver. It accepts everything: reading the file already refuses
// keys without a flag.
func (*Sources) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver. It returns the value of a flag in the configuration file,
// and nil if the file does not set it or the environment does.
func (s *Sources) Resolve(chosen *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if err := s.load(chosen); err != nil {
		if command, _, _ := strings.Cut(chosen.Command(), " "); slices.Contains(worksWithoutFile, command) {
			return nil, nil
		}
		return nil, err
	}
	if environment(flag) != "" {
		return nil, nil
	}
	value, set := s.Value(flag.Name)
	switch {
	case !set && flag.Name == "url":
		return s.ownURL(), nil
	case !set:
		return nil, nil
	case value.List == nil:
		return value.Text, nil
	case !flag.IsSlice():
		return nil, shoal.E("", KindUsage, fmt.Sprintf("%s: %s takes one value, not a list", s.file.Source(flag.Name), flag.Name))
	}
	list := make([]any, len(value.List))
	for i, item := range value.List {
		list[i] = item
	}
	return list, nil
}

// UsedFile returns the path of the configuration file that is in use, empty without one.
func (s *Sources) UsedFile() string {
	if s.file == nil {
		return ""
	}
	return s.path
}

// FileErr returns why the configuration file cannot be used. It is nil without a file.
func (s *Sources) FileErr() error { return s.err }

// Value returns the value of a flag in the configuration file, and whether the file sets it.
func (s *Sources) Value(name string) (value configfile.Value, set bool) {
	if s.file != nil {
		value, set = s.file.Values[name]
	}
	return value, set
}

// ownURL returns the URL of the server that the environment and the configuration file
// describe, as this machine reaches it. It is nil if no address, or port 0, is configured.
func (s *Sources) ownURL() any {
	addr := os.Getenv("SHOAL_ADDR")
	if addr == "" {
		configured, _ := s.Value("addr")
		addr = configured.Text
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "0" {
		return nil
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// load reads the configuration file on the first call. A missing file is an error only if the
// caller named it.
func (s *Sources) load(chosen *kong.Context) error {
	if s.read {
		return s.err
	}
	s.read = true
	var named bool
	if s.path, named = configPath(chosen); s.path == "" {
		return nil
	}
	s.file, s.err = configfile.Read(s.path, settingNames(chosen.Model.Node))
	switch {
	case errors.Is(s.err, shoal.NotFound) && !named:
		s.err = nil
	case errors.Is(s.err, shoal.NotFound):
		s.err = shoal.E("", KindUsage, fmt.Sprintf("configuration file %s not found", s.path))
	}
	return s.err
}

// configPath returns the path of the configuration file, and whether --config or SHOAL_CONFIG
// names it.
func configPath(chosen *kong.Context) (path string, named bool) {
	for _, p := range chosen.Path {
		if p.Flag != nil && p.Flag.Name == "config" && !p.Resolved {
			path, _ := chosen.FlagValue(p.Flag).(string)
			return kong.ExpandPath(path), true
		}
	}
	if path := os.Getenv("SHOAL_CONFIG"); path != "" {
		return kong.ExpandPath(path), true
	}
	dir, err := ConfigDir()
	if err != nil {
		return "", false
	}
	return filepath.Join(dir, "config.yaml"), false
}

// sharedSettings lists the flags of all commands that a configuration file may set.
var sharedSettings = []string{"data", "url", "session"}

// Settings returns the flags of serve that configure the server, in order of declaration. It
// is empty for a grammar without serve.
func Settings(root *kong.Node) []*kong.Flag {
	serve := slices.IndexFunc(root.Children, func(n *kong.Node) bool { return n.Name == "serve" })
	if serve < 0 {
		return nil
	}
	var out []*kong.Flag
	for _, flag := range root.Children[serve].Flags {
		if flag.Name != "print-config" && !flag.Hidden {
			out = append(out, flag)
		}
	}
	return out
}

// settingNames returns the keys that a configuration file may contain.
func settingNames(root *kong.Node) []string {
	names := slices.Clone(sharedSettings)
	for _, flag := range Settings(root) {
		names = append(names, flag.Name)
	}
	return names
}

// environment returns the name of the environment variable that sets a flag, empty without one.
func environment(flag *kong.Flag) string {
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return name
		}
	}
	return ""
}

// originOf names what sets a flag: "flag", an environment variable, a line of the
// configuration file, or "default".
func (s *Sources) originOf(chosen *kong.Context, flag *kong.Flag) string {
	for _, p := range chosen.Path {
		if p.Flag != nil && p.Flag.Name == flag.Name && !p.Resolved {
			return "flag"
		}
	}
	if name := environment(flag); name != "" {
		return name
	}
	if _, set := s.Value(flag.Name); set {
		return s.file.Source(flag.Name)
	}
	return "default"
}

// addOrigin adds to an error about a flag what set the flag, unless that was the command
// line, which the user sees anyway.
func (s *Sources) addOrigin(chosen *kong.Context, err error) error {
	kind := shoal.KindOf(err)
	if err == nil || chosen == nil || kind != shoal.InvalidArgument && kind != KindUsage {
		return err
	}
	text := ErrorText(err)
	word, _, _ := strings.Cut(text, " ")
	name, isFlag := strings.CutPrefix(strings.TrimSuffix(word, ":"), "--")
	for _, flag := range chosen.Flags() {
		if !isFlag || flag.Name != name {
			continue
		}
		if from := s.originOf(chosen, flag); from != "flag" && from != "default" && !strings.Contains(text, from) {
			return &shoal.Error{Kind: kind, Msg: fmt.Sprintf("%s; it is set in %s", strings.TrimSuffix(text, "."), from), Err: err}
		}
	}
	return err
}

// Setting is one effective setting of the server. Source is what set it.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// Configuration returns the settings that a server would run with. Secrets are redacted.
func (s *Sources) Configuration(chosen *kong.Context, data string) []Setting {
	read := Setting{"config", s.path, "default"}
	for _, flag := range chosen.Model.Flags {
		if flag.Name == "config" {
			read.Source = s.originOf(chosen, flag)
		}
	}
	if s.file == nil {
		read.Source += ", no such file"
	}
	all := []Setting{read}
	for _, flag := range append(slices.Clone(chosen.Model.Flags), Settings(chosen.Model.Node)...) {
		switch {
		case flag.Name == "data":
			all = append(all, Setting{flag.Name, data, s.originOf(chosen, flag)})
		case slices.Contains(Settings(chosen.Model.Node), flag):
			all = append(all, Setting{flag.Name, valueShown(flag, data), s.originOf(chosen, flag)})
		}
	}
	return all
}

// valueShown returns the value of a setting with its secrets redacted.
func valueShown(flag *kong.Flag, data string) string {
	var text string
	if flag.IsSlice() {
		list := make([]string, flag.Target.Len())
		for i := range list {
			list[i] = fmt.Sprint(flag.Target.Index(i))
		}
		text = strings.Join(list, ",")
	} else {
		text = fmt.Sprint(flag.Target)
	}
	if flag.Name == "database" && text == "" {
		text = app.DefaultDatabase(data)
	}
	if flag.Tag.Get("secret") == "url" {
		return redacted(text)
	}
	return text
}

// redacted returns the URL of a database without its password.
func redacted(database string) string {
	at, err := url.Parse(database)
	if err != nil {
		return "set, but not a valid URL"
	}
	if query := at.Query(); query.Has("password") {
		query.Set("password", "xxxxx")
		at.RawQuery = query.Encode()
	}
	return at.Redacted()
}
