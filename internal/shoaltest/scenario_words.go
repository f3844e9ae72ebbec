package shoaltest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// command is one line of a scenario. Reading a word or an option removes it, so that a misspelt
// one is detected at the end.
type command struct {
	verb    string
	words   []string
	options map[string]string
}

// parse splits a line into words and options.
func parse(line string) (*command, error) {
	c := &command{options: map[string]string{}}
	for rest := line; rest != ""; rest = strings.TrimLeft(rest, " ") {
		name, value := "", rest
		if i := strings.IndexAny(rest, `= "`); i > 0 && rest[i] == '=' {
			name, value = rest[:i], rest[i+1:]
		}
		word, err := "", error(nil)
		if strings.HasPrefix(value, `"`) {
			quoted, prefixErr := strconv.QuotedPrefix(value)
			if prefixErr != nil {
				return nil, fmt.Errorf("a quoted word does not end: %s", value)
			}
			rest = value[len(quoted):]
			word, err = strconv.Unquote(quoted)
		} else {
			word, rest, _ = strings.Cut(value, " ")
		}
		if err != nil {
			return nil, err
		}
		if name != "" {
			c.options[name] = word
		} else {
			c.words = append(c.words, word)
		}
	}
	c.verb, c.words = c.words[0], c.words[1:]
	return c, nil
}

// word returns the next word, empty if there are no more.
func (c *command) word() string {
	if len(c.words) == 0 {
		return ""
	}
	w := c.words[0]
	c.words = c.words[1:]
	return w
}

// flag reports whether the rest of the line contains a word.
func (c *command) flag(name string) bool {
	i := slices.Index(c.words, name)
	if i >= 0 {
		c.words = slices.Delete(c.words, i, i+1)
	}
	return i >= 0
}

// option returns the value of an option, empty if it is missing.
func (c *command) option(name string) string {
	v := c.options[name]
	delete(c.options, name)
	return v
}

// has reports whether the command has an option.
func (c *command) has(name string) bool { _, ok := c.options[name]; return ok }

func (c *command) number(name string) (int64, error) {
	if !c.has(name) {
		return 0, nil
	}
	return strconv.ParseInt(c.option(name), 10, 64)
}

func (c *command) duration(name string, fallback time.Duration) (time.Duration, error) {
	if !c.has(name) {
		return fallback, nil
	}
	return time.ParseDuration(c.option(name))
}

// ids returns the value of an option that is a list of entities.
func (c *command) ids(name string) []shoal.EntityID {
	var out []shoal.EntityID
	for id := range strings.SplitSeq(c.option(name), ",") {
		if id != "" {
			out = append(out, shoal.EntityID(id))
		}
	}
	return out
}

// unused returns an error with the words and options that the command has not read.
func (c *command) unused() error {
	left := slices.Clone(c.words)
	left = append(left, slices.Sorted(maps.Keys(c.options))...)
	if len(left) == 0 {
		return nil
	}
	return fmt.Errorf("unknown words or options: %q", left)
}

// actor reads the caller and the session of a call.
func (s *stage) actor(c *command, word string) (shoal.Principal, shoal.SessionID) {
	word, session, other := strings.Cut(word, "@")
	if !other {
		session = string(shoal.DefaultSession)
	}
	word, keyName, another := strings.Cut(word, "/")
	role, actsAs, _ := strings.Cut(word, ":")
	caller := shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.SessionID(session), EntityID: shoal.EntityID(word)}
	switch role {
	case "admin":
		caller = shoal.Principal{Role: shoal.RoleAdmin, EntityID: shoal.EntityID(actsAs)}
	case "service":
		caller.Role, caller.EntityID = shoal.RoleService, ""
	}
	caller.KeyID = shoal.KeyID(role + "-own")
	if another {
		caller.KeyID = shoal.KeyID(role + "-" + keyName)
		if id, made := s.keys[keyName]; made {
			caller.KeyID = id
		}
	}
	if c.has("in") {
		session = c.option("in")
	}
	return caller, shoal.SessionID(session)
}

// admin is the admin that prepares a scenario.
var admin = shoal.Principal{Role: shoal.RoleAdmin, KeyID: "admin-own"}
