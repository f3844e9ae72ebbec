package app

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/background"
	"github.com/shoal-dev/shoal/internal/logs"
)

// DefaultAddr is where a server listens unless told otherwise.
const DefaultAddr = "127.0.0.1:7462"

// Config says how a server is run. Data is required, everything else has a
// default.
//
// The fields with a help tag are the settings: such a field is all there is to a
// setting. From its tags the command line makes the flag of `shoal serve`, the
// variable SHOAL_…, the key of the configuration file, the line of --print-config
// and the row in docs/operating.md (`make generate` writes that one). In a Config
// that a program writes, a zero value stands for the default; a setting that can
// be switched off does so with a word or a negative number.
//
// Tags: help (one line), default, enum, placeholder, name (if the field's own
// with dashes does not do), and secret:"url" for an address that may hold a
// password, which is shown without it.
type Config struct {
	// Data is the directory of the admin key and, by default, the database. It is
	// created if missing.
	Data string `kong:"-"`
	// Addr is host:port; port 0 takes a free one.
	Addr string `help:"Where to listen; port 0 takes a free one." default:"127.0.0.1:7462" placeholder:"HOST:PORT"`
	// AdminKeyFile replaces admin.key in Data; it is read and never written.
	AdminKeyFile string `help:"Take the admin key from this file, such as a secret of a container, instead of admin.key in the data directory. It is never written." placeholder:"FILE"`
	// Database is sqlite://PATH, by default shoal.db in Data, or postgres://….
	Database string `help:"sqlite://PATH (default: shoal.db in the data directory) or postgres://USER:PASSWORD@HOST/NAME." placeholder:"URL" secret:"url"`
	// Bus is auto or memory; there is no bus between servers yet.
	Bus string `help:"How servers on one database notify each other: memory, for one server alone; auto takes the best one that the database allows." default:"auto"`
	// Auth off lets everybody in who can reach the server; on loopback only.
	Auth string `help:"off lets everybody on this machine act as anybody; refused unless the address is loopback." enum:"on,off" default:"on"`
	// AllowOrigins and AllowHosts widen what the guard lets through.
	AllowOrigins []string `name:"allow-origin" help:"Let web pages of these origins in; may be repeated." placeholder:"ORIGIN"`
	AllowHosts   []string `name:"allow-host" help:"Answer to these names only (default: loopback names on a loopback address, else any); may be repeated." placeholder:"HOST"`
	// TrustProxies are the networks of proxies whose X-Forwarded-For says where a
	// request comes from; none by default.
	TrustProxies []string `name:"trust-proxy" help:"Believe the header X-Forwarded-For of proxies in these networks, such as 10.0.0.0/8; may be repeated." placeholder:"CIDR"`
	// AllowPrivate are the loopback and private networks, such as 10.0.0.0/8, that
	// request tools and MCP servers of agents may call; none by default.
	AllowPrivate []string `help:"Let request tools and MCP servers of agents reach these loopback and private networks, such as 10.1.0.0/16; may be repeated." placeholder:"CIDR"`
	// AllowEnv names the variables of the environment that agent configs may refer
	// to as ${env.NAME}; none by default. The server's own and the keys of the model
	// vendors are refused.
	AllowEnv []string `help:"Let agent configs refer to these variables of the environment as ${env.NAME}; may be repeated; never a key of a model and no SHOAL_ one." placeholder:"NAME"`
	// MaxCallsPerSecond is how many calls a second one entity or service may make for
	// long, ten times as many at once; negative is no limit. Admins have none.
	MaxCallsPerSecond int `help:"How many calls a second one entity or service may make for long, and ten times as many at once; -1 is no limit. Admins have none." default:"1000"`
	// MaxSpacesEach and MaxFileMiBEach bound what one entity creates and stores.
	MaxSpacesEach  int `name:"max-spaces-each" help:"How many spaces one entity may create in its session." default:"1000"`
	MaxFileMiBEach int `name:"max-file-mib-each" help:"How many MiB of files one entity may store in its session." default:"1024"`
	// MaxWaits and MaxStreams bound what is open in this server.
	MaxWaits   int `help:"How many waits may be open at once." default:"20000"`
	MaxStreams int `help:"How many streams of server-sent events may be open at once; one caller may have 20." default:"10000"`
	// KeepRequests is how long is kept what models were sent for a run, from its end
	// on: 30d, 12h, or forever.
	KeepRequests string `help:"How long to keep what models were sent for a run, from its end on, such as 30d or 12h; forever keeps it." default:"30d" placeholder:"TIME"`
	// MetricsAddr is host:port of a listener for /metrics that wants no key; empty is
	// none.
	MetricsAddr string `help:"Answer /metrics there without a key, too; on the server's own address an admin key reads it." placeholder:"HOST:PORT"`
	// LogFormat and LogLevel say how Log was made; see internal/logs.
	LogFormat string `help:"How lines of the log look." enum:"text,json" default:"text"`
	LogLevel  string `help:"The least that is logged: at debug a line for every call." enum:"debug,info,warn,error" default:"info"`
	// Keys looks up the keys of the model vendors by the names of their variables;
	// nil is the environment.
	Keys func(name string) string `kong:"-"`
	// ParkAfter is how long a wait over REST lasts before its connection is parked
	// (see internal/detach), 100 ms if zero.
	ParkAfter time.Duration `kong:"-"`
	// Manager is what keeps the server running in the background, empty if nothing does.
	Manager background.Manager `kong:"-"`
	// Version is what the server says it is.
	Version string `kong:"-"`
	// Log receives what an operator should know; nil discards it.
	Log *slog.Logger `kong:"-"`
	// Out receives the lines that greet whoever started the server; nil discards
	// them. Terminal says that a person reads Out and nothing keeps it: only then may a
	// secret be in it. Command is how that person runs the command line.
	Out      io.Writer `kong:"-"`
	Terminal bool      `kong:"-"`
	Command  string    `kong:"-"`

	announce bool // the server describes itself in its data directory

	private []netip.Prefix // AllowPrivate
	proxies []netip.Prefix // TrustProxies
}

// Check returns what is wrong with a configuration, as Start would, and touches
// nothing.
func (c Config) Check() error {
	_, err := c.complete()
	return err
}

// checkBus refuses the buses between servers, which do not exist yet, and what is none.
func (c Config) checkBus() error {
	switch {
	case c.Bus == "auto" || c.Bus == "memory":
		return nil
	case c.Bus == "postgres" || strings.HasPrefix(c.Bus, "nats://"):
		return shoal.E("app.Config", shoal.InvalidArgument, fmt.Sprintf("--bus %s is not supported yet: one server at a time works on a database, with --bus memory.", c.Bus))
	}
	return shoal.E("app.Config", shoal.InvalidArgument, fmt.Sprintf("--bus %s is not a bus; it is auto or memory.", c.Bus))
}

// open reports whether nobody needs a key.
func (c Config) open() bool { return c.Auth == "off" }

// complete fills in the defaults and refuses what cannot work.
func (c Config) complete() (Config, error) {
	const op = "app.Config"
	if c.Data == "" {
		return c, shoal.E(op, shoal.InvalidArgument, "No data directory was given: set --data.")
	}
	c.defaults()
	if c.Database == "" {
		c.Database = DefaultDatabase(c.Data)
	}
	if !strings.HasPrefix(c.Database, "sqlite://") && !strings.HasPrefix(c.Database, "postgres://") && !strings.HasPrefix(c.Database, "postgresql://") {
		return c, shoal.E(op, shoal.InvalidArgument, "--database must start with sqlite:// or postgres://.")
	}
	if err := c.checkBus(); err != nil {
		return c, err
	}
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return c, shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--addr %s is no host:port, such as %s.", c.Addr, DefaultAddr))
	}
	if _, err := keepFor(c.KeepRequests); err != nil {
		return c, err
	}
	if c.Auth != "on" && c.Auth != "off" {
		return c, shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--auth %s is neither on nor off.", c.Auth))
	}
	if c.open() && !Loopback(host) {
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
	if c.MaxSpacesEach < 1 || c.MaxFileMiBEach < 1 {
		return c, shoal.E(op, shoal.InvalidArgument, "--max-spaces-each and --max-file-mib-each must be at least 1.")
	}
	if c.MaxWaits < 1 || c.MaxStreams < 1 {
		return c, shoal.E(op, shoal.InvalidArgument, "--max-waits and --max-streams must be at least 1.")
	}
	if c.MetricsAddr != "" {
		if _, _, err := net.SplitHostPort(c.MetricsAddr); err != nil {
			return c, shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--metrics-addr %s is no host:port, such as 127.0.0.1:9464.", c.MetricsAddr))
		}
	}
	c.Log = logs.Redacting(c.Log, c.secrets())
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.Command == "" {
		c.Command = "shoal"
	}
	return c, nil
}

// DefaultDatabase is the database of a data directory.
func DefaultDatabase(data string) string { return "sqlite://" + filepath.Join(data, "shoal.db") }

// defaults gives the settings that are not set the defaults of their tags.
func (c *Config) defaults() {
	fields := reflect.ValueOf(c).Elem()
	for i := range fields.NumField() {
		text, has := fields.Type().Field(i).Tag.Lookup("default")
		field := fields.Field(i)
		if !has || !field.IsZero() {
			continue
		}
		if err := setText(field, text); err != nil {
			panic(err) // the tags above are wrong
		}
	}
}

// setText sets a field to what text says, in the way in which the command line
// reads it.
func setText(field reflect.Value, text string) (err error) {
	switch field.Interface().(type) {
	case time.Duration:
		var d time.Duration
		d, err = time.ParseDuration(text)
		field.SetInt(int64(d))
		return err
	}
	switch field.Kind() {
	case reflect.String:
		field.SetString(text)
	case reflect.Int, reflect.Int64:
		var n int64
		n, err = strconv.ParseInt(text, 10, 64)
		field.SetInt(n)
	case reflect.Float64:
		var n float64
		n, err = strconv.ParseFloat(text, 64)
		field.SetFloat(n)
	default:
		err = fmt.Errorf("a setting of type %s has no default in a tag", field.Type())
	}
	return err
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// allowed reads what agents are allowed.
func (c *Config) allowed() error {
	const op = "app.Config"
	var err error
	if c.private, err = networks("--allow-private", c.AllowPrivate); err != nil {
		return err
	}
	if c.proxies, err = networks("--trust-proxy", c.TrustProxies); err != nil {
		return err
	}
	for _, name := range c.AllowEnv {
		switch {
		case !variable.MatchString(name):
			return shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--allow-env %q is no name of a variable.", name))
		case agentconfig.IsProtected(name):
			return shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--allow-env %s is refused: that variable is the server's own, and no agent config may read it.", name))
		}
	}
	return nil
}

// networks reads the networks that a setting names.
func networks(setting string, texts []string) (out []netip.Prefix, _ error) {
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, shoal.E("app.Config", shoal.InvalidArgument, fmt.Sprintf("%s %s is no network: write it as 10.0.0.0/8, or 127.0.0.1/32 for one address.", setting, text))
		}
		out = append(out, network.Masked())
	}
	return out, nil
}

// Loopback reports whether host, without a port, can only be this machine.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
