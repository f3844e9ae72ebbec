package harness

import (
	"slices"
	"strings"
)

// passed are the variables that every harness needs, and nothing that holds a secret.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TZ", "TMPDIR", "TERM",
	"XDG_*", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	// Windows does not start programs without these.
	"SYSTEMROOT", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMFILES", "TEMP", "TMP",
}

// Environ returns the variables of a process that a harness may see: what every program needs, and
// those that allow names. A name may end with *, which matches any characters. All others are removed,
// above all the keys of the runner.
func Environ(all []string, allow ...string) (out []string) {
	for _, pair := range all {
		name, _, ok := strings.Cut(pair, "=")
		if ok && (matches(passed, name) || matches(allow, name)) {
			out = append(out, pair)
		}
	}
	return out
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		start, open := strings.CutSuffix(p, "*")
		return name == p || open && strings.HasPrefix(name, start)
	})
}
