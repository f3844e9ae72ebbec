// Package agentconfig reads the configuration of a hosted agent: what an author
// writes in JSON or YAML, checked, with its defaults, and in one canonical form.
//
//	config, err := agentconfig.Decode(text, agentconfig.Options{ID: "shop-agent", Env: allowed})
//	if err != nil {
//		return err // names the path of every wrong field
//	}
//	if config.Hash() == stored {
//		return nil // nothing changed
//	}
//
// What is promised:
//   - Every wrong field is named at once, with its path (tools[0].execution.url)
//     and what is expected there: a *[shoal.Error] of kind InvalidArgument with
//     Fields. Text that is neither JSON nor YAML is of kind InvalidJSON.
//   - Two texts that say the same have the same canonical form and [Config.Hash]:
//     the order of keys, JSON or YAML, defaults written out or left out, null or
//     absent make no difference.
//   - A reference such as ${env.KB} stays a reference: this package never reads
//     the environment, so no secret is in a Config, its canonical form or an error.
//   - [Schema] is the JSON Schema of all that, made from the same table that the
//     check walks.
//
// The package is pure: no clock, no I/O, no goroutine.
package agentconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
)

const (
	// MaxSize is how many bytes a configuration may have.
	MaxSize = 1 << 20
	// MaxDepth is how deeply its values may nest.
	MaxDepth = 64
)

// Options say what [Decode] may take from its caller.
type Options struct {
	// ID is the agent's id where the text names none, such as a file's stem.
	ID shoal.EntityID
	// Fixed refuses a text that names another id than ID, as a PUT to ID does.
	Fixed bool
	// Env are the names that ${env.NAME} may refer to. The server's own secrets
	// (see [Protected]) are refused even if they are listed.
	Env []string
}

// Decode reads and checks a configuration in JSON or YAML. The Config is the
// caller's.
func Decode(text []byte, o Options) (*Config, error) {
	return decode(text, o, func(name string) bool { return slices.Contains(o.Env, name) })
}

// Load reads what [Config.Canonical] wrote. It checks all but the names of the
// environment, which an operator may have allowed less of since.
func Load(canonical []byte) (*Config, error) {
	return decode(canonical, Options{}, func(string) bool { return true })
}

func decode(text []byte, o Options, allowed func(string) bool) (*Config, error) {
	const op = "agentconfig.Decode"
	if len(text) > MaxSize {
		return nil, shoal.E(op, shoal.TooLarge, fmt.Sprintf("an agent config has at most %d bytes, not %d", MaxSize, len(text)))
	}
	c := &check{allowed: allowed}
	raw, err := c.read(text)
	if err != nil {
		return nil, err
	}
	value, _ := c.walk(root, raw, "").(map[string]any)
	if value != nil {
		c.identity(value, o)
		c.across(value)
	}
	if err := c.err(op); err != nil {
		return nil, err
	}
	canonical, err := shoal.EncodeJSON(value)
	if err != nil {
		return nil, &shoal.Error{Op: op, Kind: shoal.Internal, Msg: "the config cannot be written", Err: err}
	}
	config := &Config{canonical: canonical}
	if err := json.Unmarshal(canonical, config); err != nil {
		return nil, &shoal.Error{Op: op, Kind: shoal.Internal, Msg: "the config cannot be read back", Err: err}
	}
	return config, nil
}

// Canonical returns the one way to write this configuration: JSON with sorted
// keys, defaults written out, references to the environment as they are.
func (c *Config) Canonical() []byte { return slices.Clone(c.canonical) }

// Hash returns the SHA-256 of [Config.Canonical] in hexadecimal digits.
func (c *Config) Hash() string {
	sum := sha256.Sum256(c.canonical)
	return hex.EncodeToString(sum[:])
}

// MarshalJSON returns the canonical form.
func (c *Config) MarshalJSON() ([]byte, error) { return c.Canonical(), nil }

// maxProblems is how many wrong fields one answer names.
const maxProblems = 100

// check is one reading of a configuration; it collects what is wrong.
type check struct {
	allowed  func(name string) bool
	problems []shoal.FieldError
	more     int
}

func (c *check) wrong(path, format string, args ...any) {
	if path == "" {
		path = "config"
	}
	if len(c.problems) == maxProblems {
		c.more++
		return
	}
	c.problems = append(c.problems, shoal.FieldError{Location: path, Message: fmt.Sprintf(format, args...)})
}

func (c *check) err(op string) error {
	if len(c.problems) == 0 {
		return nil
	}
	said := make([]string, len(c.problems))
	for i, p := range c.problems {
		said[i] = p.Location + " " + p.Message
	}
	if c.more > 0 {
		said = append(said, fmt.Sprintf("and %d more", c.more))
	}
	return &shoal.Error{Op: op, Kind: shoal.InvalidArgument, Msg: strings.Join(said, "; "), Fields: c.problems}
}
