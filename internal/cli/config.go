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

// Sources answers what a flag is set to where the command line says nothing: the
// environment, then the configuration file.
type Sources struct {
	read bool // whether the file was looked for
	path string
	file *configfile.File // nil if there is none
	err  error            // why it cannot be used
}

// worksWithoutFile are the commands that work without the configuration file, and so with a
// broken one, too.
var worksWithoutFile = []string{"version", "doctor", "completion", "__complete"}

// Validate has nothing to say: a key that no flag has was refused with the file.
func (*Sources) Validate(*kong.Application) error { return nil }

// Resolve returns the value of a flag in the configuration file, nil if it has none
// there or the environment goes before.
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
		return nil, shoal.E("", KindUsage, fmt.Sprintf("%s: %s takes one value and no list", s.file.Source(flag.Name), flag.Name))
	}
	list := make([]any, len(value.List))
	for i, item := range value.List {
		list[i] = item
	}
	return list, nil
}

// UsedFile returns the path of the configuration file, empty if there is none.
func (s *Sources) UsedFile() string {
	if s.file == nil {
		return ""
	}
	return s.path
}

// FileErr returns why the configuration file cannot be used, nil if it can or there is none.
func (s *Sources) FileErr() error { return s.err }

// Value returns what the configuration file sets a flag to, if it does.
func (s *Sources) Value(name string) (value configfile.Value, set bool) {
	if s.file != nil {
		value, set = s.file.Values[name]
	}
	return value, set
}

// ownURL is where the server that is configured here answers on this machine, nil if
// that cannot be known.
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

// load reads the configuration file, once.
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
		s.err = shoal.E("", KindUsage, fmt.Sprintf("there is no configuration file %s", s.path))
	}
	return s.err
}

// configPath returns where the configuration file is looked for, and whether
// somebody named the place.
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
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", false
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "shoal", "config.yaml"), false
}

// sharedSettings are the flags that all commands have and a configuration file may set.
var sharedSettings = []string{"data", "url", "session"}

// Settings returns the flags of serve that are settings of the server, in order.
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

// settingNames returns the keys that a configuration file may have.
func settingNames(root *kong.Node) []string {
	names := slices.Clone(sharedSettings)
	for _, flag := range Settings(root) {
		names = append(names, flag.Name)
	}
	return names
}

// environment returns the variable that sets a flag, if one does.
func environment(flag *kong.Flag) string {
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return name
		}
	}
	return ""
}

// source tells where the value of a flag comes from.
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

// blame adds to an error about a setting where that was set, if it was not on the
// command line, where everybody sees it.
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

// Setting is one line of the configuration.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// Configuration returns what the server would run with. No secret is in it.
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

// valueShown returns the value of a setting as everybody may see it.
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
		return "set, but no URL"
	}
	if query := at.Query(); query.Has("password") {
		query.Set("password", "xxxxx")
		at.RawQuery = query.Encode()
	}
	return at.Redacted()
}
