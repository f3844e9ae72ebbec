package app

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
)

// DefaultAddr is where a server listens unless told otherwise.
const DefaultAddr = "127.0.0.1:7462"

// Config says how a server is run. Data is required, everything else has a
// default.
type Config struct {
	// Addr is host:port; port 0 takes a free one.
	Addr string
	// Data is the directory of the admin key and, by default, the database. It is
	// created if missing.
	Data string
	// Database is sqlite://PATH, by default shoal.db in Data, or postgres://….
	Database string
	// Bus is memory, the default and for now the only one.
	Bus string
	// AuthOff lets everybody in who can reach the server; on loopback only.
	AuthOff bool
	// AllowOrigins and AllowHosts widen what the guard lets through.
	AllowOrigins []string
	AllowHosts   []string
	// AllowPrivate are the loopback and private networks, such as 10.0.0.0/8, that
	// request tools and MCP servers of agents may call; none by default.
	AllowPrivate []string
	// AllowEnv names the variables of the environment that agent configs may refer
	// to as ${env.NAME}; none by default. The server's own and the keys of the model
	// vendors are refused.
	AllowEnv []string
	// Keys looks up the keys of the model vendors by the names of their variables;
	// nil is the environment.
	Keys func(name string) string
	// Version is what the server says it is.
	Version string
	// Log receives what an operator should know; nil discards it.
	Log *slog.Logger
	// Out receives the lines that greet whoever started the server; nil discards
	// them. Command is how that person runs the command line.
	Out     io.Writer
	Command string

	private []netip.Prefix // AllowPrivate
}

// complete fills in the defaults and refuses what cannot work.
func (c Config) complete() (Config, error) {
	const op = "app.Config"
	if c.Data == "" {
		return c, shoal.E(op, shoal.InvalidArgument, "No data directory was given: set --data.")
	}
	if c.Addr == "" {
		c.Addr = DefaultAddr
	}
	if c.Database == "" {
		c.Database = "sqlite://" + filepath.Join(c.Data, "shoal.db")
	}
	if !strings.HasPrefix(c.Database, "sqlite://") && !strings.HasPrefix(c.Database, "postgres://") && !strings.HasPrefix(c.Database, "postgresql://") {
		return c, shoal.E(op, shoal.InvalidArgument, "--database must start with sqlite:// or postgres://.")
	}
	if c.Bus != "" && c.Bus != "memory" {
		return c, shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--bus %s is not supported yet: one server at a time works on a database, with --bus memory.", c.Bus))
	}
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return c, shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--addr %s is no host:port, such as %s.", c.Addr, DefaultAddr))
	}
	if c.AuthOff && !Loopback(host) {
		return c, shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--auth off lets everybody in and is allowed on loopback only, not on %s.", c.Addr))
	}
	if err := c.allowed(); err != nil {
		return c, err
	}
	if c.Keys == nil {
		c.Keys = os.Getenv
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Out == nil {
		c.Out = io.Discard
	}
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.Command == "" {
		c.Command = "shoal"
	}
	return c, nil
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// allowed reads what agents are allowed.
func (c *Config) allowed() error {
	const op = "app.Config"
	c.private = nil
	for _, text := range c.AllowPrivate {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--allow-private %s is no network: write it as 10.0.0.0/8, or 127.0.0.1/32 for one address.", text))
		}
		c.private = append(c.private, network.Masked())
	}
	for _, name := range c.AllowEnv {
		switch {
		case !variable.MatchString(name):
			return shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--allow-env %q is no name of a variable.", name))
		case agentconfig.Protected(name):
			return shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--allow-env %s is refused: that variable is the server's own, and no agent config may read it.", name))
		}
	}
	return nil
}

// Loopback reports whether host, without a port, can only be this machine.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
