// Package agentconfig decodes the configuration of a hosted agent from JSON or YAML. It
// validates the fields, fills in the defaults, and produces one canonical form.
//
//	config, err := agentconfig.Decode(text, agentconfig.Options{ID: "shop-agent", Env: allowed})
//	if err != nil {
//		return err // names the path of every wrong field
//	}
//	if config.Hash() == stored {
//		return nil // nothing changed
//	}
//
// Guarantees:
//   - All invalid fields are reported at once, each with its path
//     (tools[0].execution.url) and what is expected: a *[shoal.Error] of kind InvalidArgument with
//     Fields. Text that is neither JSON nor YAML is of kind InvalidJSON.
//   - Two texts with the same meaning have the same canonical form and [Config.Hash]. The
//     order of keys, JSON or YAML, explicit or omitted defaults, and null or absent fields
//     make no difference.
//   - A reference such as ${env.KB} stays a reference. This package never reads the
//     environment, so a Config, its canonical form and its errors contain no secret.
//   - [Schema] returns the JSON Schema of the format. It is generated from the table that
//     the validation uses.
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
	// MaxSize limits the bytes of a configuration.
	MaxSize = 1 << 20
	// MaxDepth limits the nesting of its values.
	MaxDepth = 64
)

// Options configure [Decode].
type Options struct {
	// ID is the agent's id if the text has none, such as the stem of the file name.
	ID shoal.EntityID
	// Fixed rejects a text with an id other than ID, as a PUT to ID does.
	Fixed bool
	// Env are the names that ${env.NAME} may refer to. The server's own secrets (see
	// [IsProtected]) are rejected even if they are listed.
	Env []string
}

// Decode decodes and validates a configuration in JSON or YAML. The caller owns the returned
// Config.
func Decode(text []byte, o Options) (*Config, error) {
	return decode(text, o, func(name string) bool { return slices.Contains(o.Env, name) })
}

// Load decodes the output of [Config.Canonical]. It validates everything except the names of
// the environment, because the operator may permit fewer of them by now.
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
		c.checkIdentity(value, o)
		c.checkCombinations(value)
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

// Canonical returns the canonical form of the configuration: JSON with sorted keys, explicit
// defaults, and unresolved references to the environment.
func (c *Config) Canonical() []byte { return slices.Clone(c.canonical) }

// Hash returns the SHA-256 of [Config.Canonical] in hexadecimal digits.
func (c *Config) Hash() string {
	sum := sha256.Sum256(c.canonical)
	return hex.EncodeToString(sum[:])
}

// MarshalJSON returns the canonical form.
func (c *Config) MarshalJSON() ([]byte, error) { return c.Canonical(), nil }

// maxProblems limits the invalid fields that one error reports.
const maxProblems = 100

// check is the state of one validation; it collects the problems.
type check struct {
	allowed  func(name string) bool
	problems []shoal.FieldError
	more     int
}

func (c *check) addProblem(path, format string, args ...any) {
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
