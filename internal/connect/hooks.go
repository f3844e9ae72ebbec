package connect

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
)

// WakeHook is the first argument of the program that hooks start.
const WakeHook = "wake-hook"

// wakeEvents are the events at which the program begins to wait, or hears what the model does.
var wakeEvents = []string{"SessionStart", "UserPromptSubmit", "Stop"}

// askEvents are those at which it asks for a permission, and hears that the terminal has given it. New
// events belong at the end: what is remembered of the hooks of earlier versions is in this order.
var askEvents = []string{"PermissionRequest", "PostToolUse", "PostToolUseFailure"}

const (
	// claudeSeconds is how long Claude Code lets a hook wait: a week. It starts another one with each prompt.
	claudeSeconds = 7 * 24 * 3600
	// claudeShortly is how long a hook may take that only remembers what it hears.
	claudeShortly = 60
	// codexSeconds is how long Codex waits for a hook, which starts another program and ends.
	codexSeconds = 10
)

// hookFile edits the file with the hooks of a client.
type hookFile struct {
	events []string
	// hook is what the client starts at an event, and arguments are what the program is started with,
	// nil if it is another program.
	hook      func(event, program, name string) []field
	arguments func(hook map[string]any) []string
}

// hookFiles are those of the clients that have hooks.
var hookFiles = map[string]hookFile{
	// Without a shell, in the background, and with what the program prints as a prompt if it exits with 2.
	// A dialog about a permission reads what its hook prints, and stays open meanwhile.
	"claude-code": {
		events: slices.Concat(wakeEvents, askEvents),
		hook: func(event, program, name string) []field {
			out := []field{{"type", "command"}, {"command", program}, {"args", []any{WakeHook, "claude", "--entry", name}}}
			switch event {
			case "PermissionRequest":
				return append(out, field{"timeout", claudeSeconds})
			case "PostToolUse", "PostToolUseFailure":
				return append(out, field{"async", true}, field{"timeout", claudeShortly})
			}
			return append(out, field{"async", true}, field{"asyncRewake", true}, field{"timeout", claudeSeconds})
		},
		arguments: func(hook map[string]any) (args []string) {
			list, _ := hook["args"].([]any)
			for _, arg := range list {
				text, _ := arg.(string)
				args = append(args, text)
			}
			return args
		},
	},
	// Codex starts a shell, and waits for the hook.
	"codex": {
		events: wakeEvents,
		hook: func(_, program, name string) []field {
			return []field{
				{"type", "command"},
				{"command", shellWord(program) + " " + WakeHook + " codex --entry " + name},
				{"timeout", codexSeconds},
			}
		},
		arguments: func(hook map[string]any) []string {
			command, _ := hook["command"].(string)
			if at := strings.LastIndex(command, " "+WakeHook+" "); at >= 0 {
				return strings.Fields(command[at:])
			}
			return nil
		},
	},
}

// shellWord quotes a path for a shell.
func shellWord(path string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-"
	switch {
	case strings.Trim(path, plain) == "":
		return path
	case runtime.GOOS == "windows":
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// Wakes reports whether there are hooks that wake the model of the client.
func (c *Client) Wakes() bool { return hookFiles[c.ID].hook != nil }

// WakeFile returns the user's file with the hooks of a client that has them.
func (m Machine) WakeFile(c *Client) string {
	if c.ID == "codex" {
		return filepath.Join(m.or("CODEX_HOME", filepath.Join(m.Home, ".codex")), "hooks.json")
	}
	return filepath.Join(m.or("CLAUDE_CONFIG_DIR", filepath.Join(m.Home, ".claude")), "settings.json")
}

// Wakes returns the directory in which hooks remember what they have passed on.
func (m Machine) Wakes() string { return filepath.Join(m.state(), "wake") }

// OpenHooks reads the file with the hooks of a client, as [Open] reads that with its servers. The entry
// of a name in it is the hooks that wake the model for the server of that name.
func OpenHooks(c *Client, path string) (*Config, error) { return open(hookFiles[c.ID], path) }

// Program returns the path of this program for a hook: that on PATH if it is the same file, because that
// one stays when the program is replaced.
func (m Machine) Program() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", &shoal.Error{Kind: shoal.InvalidArgument, Msg: "the path of this program is not known", Err: err}
	}
	found, err := m.Find("shoal")
	if err != nil || !filepath.IsAbs(found) {
		return own, nil
	}
	a, errA := os.Stat(own)
	b, errB := os.Stat(found)
	if errA == nil && errB == nil && os.SameFile(a, b) {
		return found, nil
	}
	return own, nil
}

// KeyOf returns the server and the key of the entry of a client, for a program that the client has
// started: the key is in the file, or in the environment.
func (m Machine) KeyOf(c *Client, entry string) (url, key string, err error) {
	path := m.File(c, User)
	config, err := Open(c, path)
	if err != nil {
		return "", "", err
	}
	found, is, err := config.Entry(entry)
	if err != nil {
		return "", "", err
	}
	if key = found.Key; is && key == "" {
		record, err := m.Records().Of(path, entry)
		if err != nil {
			return "", "", err
		}
		if record != nil {
			key = m.Getenv(Variable(record.Agent))
		}
	}
	if key == "" {
		return "", "", shoal.E("", shoal.NotFound, fmt.Sprintf("%s has no entry %s with a key: `shoal connect %s --wake` writes it", path, entry, c.ID))
	}
	return serverURL(found.URL), key, nil
}

func (f hookFile) set(src, name string, t Target) (after string, made []int, err error) {
	for _, event := range f.events {
		group, at, err := f.at(src, event, name)
		if err != nil {
			return "", nil, err
		}
		if t.WakeOnly && slices.Contains(askEvents, event) {
			if src, err = f.take(src, event, group, at, 1); err != nil {
				return "", nil, err
			}
			continue // the last events are not counted
		}
		n := 0
		if at >= 0 {
			src = jsonReplace(src, group.items[at].value, f.hook(event, t.Program, name))
		} else if src, n, err = jsonPush(src, []string{"hooks", event}, []field{{"hooks", []any{f.hook(event, t.Program, name)}}}); err != nil {
			return "", nil, err
		}
		made = append(made, n)
	}
	return src, made, nil
}

func (f hookFile) cut(src, name string, made []int) (string, error) {
	for i, event := range slices.Backward(f.events) {
		group, at, err := f.at(src, event, name)
		if err != nil {
			return "", err
		}
		up := 0
		if i < len(made) {
			up = made[i]
		}
		if src, err = f.take(src, event, group, at, up); err != nil {
			return "", err
		}
	}
	return src, nil
}

// take takes the hook of an event out, and up to that many of the arrays and objects around it that are empty then.
func (hookFile) take(src, event string, group hookGroup, at, up int) (string, error) {
	switch {
	case at < 0:
		return src, nil
	case len(group.items) > 1:
		return jsonRemove(src, group.jsonNode, at), nil
	}
	return jsonCut(src, []string{"hooks", event}, group.index, up)
}

// hookGroup is the array of hooks of an element of the list of an event.
type hookGroup struct {
	jsonNode
	index int // of the element
}

// at returns where the hook of an event is: its group and its place in that, which is -1 if there is
// none.
func (f hookFile) at(src, event, name string) (group hookGroup, at int, err error) {
	list, found, err := jsonFind(src, []string{"hooks", event})
	if err != nil || !found {
		return group, -1, err
	}
	if list.kind != '[' {
		return group, -1, unreadable(fmt.Sprintf("an array was expected at hooks.%s", event))
	}
	for i, item := range list.items {
		inside, err := item.value.member("hooks")
		if err != nil {
			return group, -1, err
		}
		if inside < 0 {
			continue
		}
		group = hookGroup{item.value.items[inside].value, i}
		for at, hook := range group.items {
			if f.is(hook.value.decode(src), name) {
				return group, at, nil
			}
		}
	}
	return group, -1, nil
}

// is reports whether a hook starts the program for the server of a name.
func (f hookFile) is(said any, name string) bool {
	fields, _ := said.(map[string]any)
	args := f.arguments(fields)
	return len(args) == 4 && args[0] == WakeHook && args[2] == "--entry" && args[3] == name
}

func (f hookFile) read(src, name string) (map[string]any, error) {
	if _, err := decodeJSON(src); err != nil {
		return nil, err
	}
	for _, event := range f.events {
		if _, at, err := f.at(src, event, name); err != nil || at >= 0 {
			return map[string]any{}, err
		}
	}
	return nil, nil
}

// rest returns what the settings say besides the hooks of a name. Objects and arrays that they alone
// were in are not there.
func (f hookFile) rest(src, name string) (map[string]any, error) {
	said, err := decodeJSON(src)
	events, is := said["hooks"].(map[string]any)
	if err != nil || name == "" || !is {
		return said, err
	}
	for _, event := range f.events {
		groups, is := events[event].([]any)
		if !is {
			continue
		}
		if groups = f.without(groups, name); len(groups) > 0 {
			events[event] = groups
		} else {
			delete(events, event)
		}
	}
	if len(events) == 0 {
		delete(said, "hooks")
	}
	return said, nil
}

func (f hookFile) without(groups []any, name string) (rest []any) {
	for _, group := range groups {
		if fields, is := group.(map[string]any); is {
			all, _ := fields["hooks"].([]any)
			others := slices.DeleteFunc(slices.Clone(all), func(h any) bool { return f.is(h, name) })
			if len(others) == 0 && len(all) > 0 {
				continue
			}
			if len(all) > 0 {
				fields["hooks"] = others
			}
		}
		rest = append(rest, group)
	}
	return rest
}
