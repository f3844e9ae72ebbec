package connect

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/shoal-dev/shoal"
)

// WakeHook is the first argument of the program that hooks start.
const WakeHook = "wake-hook"

// hookEvents are the events of Claude Code at which a program begins to wait, or hears what the model does.
var hookEvents = []string{"SessionStart", "UserPromptSubmit", "Stop"}

// hookSeconds is how long Claude Code lets a hook wait: a week. It starts another one with each prompt.
const hookSeconds = 7 * 24 * 3600

// Wakes reports whether there are hooks that wake the model of the client.
func (c *Client) Wakes() bool { return c.ID == "claude-code" }

// WakeFile returns the user's file with the hooks of a client that has them.
func (m Machine) WakeFile() string {
	return filepath.Join(m.or("CLAUDE_CONFIG_DIR", filepath.Join(m.Home, ".claude")), "settings.json")
}

// Wakes returns the directory in which hooks remember what they have passed on.
func (m Machine) Wakes() string { return filepath.Join(m.state(), "wake") }

// OpenHooks reads the file with the hooks of a client, as [Open] reads that with its servers. The entry
// of a name in it is the hooks that wake the model for the server of that name.
func OpenHooks(path string) (*Config, error) { return open(claudeHooks{}, path) }

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

// claudeHooks edits the hooks in the settings of Claude Code.
type claudeHooks struct{}

// hook is what Claude Code starts: without a shell, in the background, and with what it prints as a
// prompt if it exits with 2.
func hook(program, name string) []field {
	return []field{
		{"type", "command"},
		{"command", program},
		{"args", []any{WakeHook, "claude", "--entry", name}},
		{"async", true},
		{"asyncRewake", true},
		{"timeout", hookSeconds},
	}
}

func (claudeHooks) set(src, name string, t Target) (after string, made []int, err error) {
	for _, event := range hookEvents {
		group, at, err := hookAt(src, event, name)
		if err != nil {
			return "", nil, err
		}
		n := 0
		if at >= 0 {
			src = jsonReplace(src, group.items[at].value, hook(t.Program, name))
		} else if src, n, err = jsonPush(src, []string{"hooks", event}, []field{{"hooks", []any{hook(t.Program, name)}}}); err != nil {
			return "", nil, err
		}
		made = append(made, n)
	}
	return src, made, nil
}

func (claudeHooks) cut(src, name string, made []int) (string, error) {
	for i, event := range slices.Backward(hookEvents) {
		group, at, err := hookAt(src, event, name)
		if err != nil {
			return "", err
		}
		switch {
		case at < 0:
		case len(group.items) > 1:
			src = jsonRemove(src, group.jsonNode, at)
		default:
			up := 0
			if i < len(made) {
				up = made[i]
			}
			if src, err = jsonCut(src, []string{"hooks", event}, group.index, up); err != nil {
				return "", err
			}
		}
	}
	return src, nil
}

// hookGroup is the array of hooks of an element of the list of an event.
type hookGroup struct {
	jsonNode
	index int // of the element
}

// hookAt returns where the hook of an event is: its group and its place in that, which is -1 if there is
// none.
func hookAt(src, event, name string) (group hookGroup, at int, err error) {
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
			if isHook(hook.value.decode(src), name) {
				return group, at, nil
			}
		}
	}
	return group, -1, nil
}

// isHook reports whether a hook starts the program for the server of a name.
func isHook(said any, name string) bool {
	fields, _ := said.(map[string]any)
	args, _ := fields["args"].([]any)
	return slices.EqualFunc(args, []string{WakeHook, "claude", "--entry", name}, func(a any, b string) bool { return a == b })
}

func (claudeHooks) read(src, name string) (map[string]any, error) {
	if _, err := decodeJSON(src); err != nil {
		return nil, err
	}
	for _, event := range hookEvents {
		if _, at, err := hookAt(src, event, name); err != nil || at >= 0 {
			return map[string]any{}, err
		}
	}
	return nil, nil
}

// rest returns what the settings say besides the hooks of a name. Objects and arrays that they alone
// were in are not there.
func (claudeHooks) rest(src, name string) (map[string]any, error) {
	said, err := decodeJSON(src)
	events, is := said["hooks"].(map[string]any)
	if err != nil || name == "" || !is {
		return said, err
	}
	for _, event := range hookEvents {
		groups, is := events[event].([]any)
		if !is {
			continue
		}
		if groups = withoutHooks(groups, name); len(groups) > 0 {
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

func withoutHooks(groups []any, name string) (rest []any) {
	for _, group := range groups {
		if fields, is := group.(map[string]any); is {
			all, _ := fields["hooks"].([]any)
			others := slices.DeleteFunc(slices.Clone(all), func(h any) bool { return isHook(h, name) })
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
