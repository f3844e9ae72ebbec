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
	"github.com/shoal-dev/shoal/internal/naming"
)

// DefaultAddr is the address that a server listens on by default.
const DefaultAddr = "127.0.0.1:7462"

// Config holds the configuration of a server. Data is required; every other field
// has a default.
//
// Each field with a help tag is a setting, and the field is all that a setting
// needs. Its tags define the flag of `shoal serve`, the variable SHOAL_…, the key of
// the configuration file, the line of --print-config and the row in
// docs/operating.md, which `make generate` writes. In a Config that a program
// builds, a zero value selects the default; a setting that can be turned off uses a
// word or a negative number for it.
//
// Tags: help (one line), default, enum, placeholder, name (if it differs from the
// field's name with dashes), group (the heading in the help of `shoal serve`), and
// secret:"url" for a URL that may contain a password, which is masked in output.
type Config struct {
	// Data is the directory of the admin key and, by default, the database. It is
	// created if missing.
	Data string `kong:"-"`
	// Addr is host:port; port 0 takes a free one.
	Addr string `help:"Address to listen on; port 0 picks a free port." default:"127.0.0.1:7462" placeholder:"HOST:PORT" group:"Address and database"`
	// AdminKeyFile is read instead of admin.key in Data, and never written.
	AdminKeyFile string `help:"Read the admin key from this file, such as a container secret, instead of admin.key in the data directory. The server never writes to it." placeholder:"FILE" group:"Address and database"`
	// Database is sqlite://PATH, by default shoal.db in Data, or postgres://….
	Database string `help:"Database: sqlite://PATH (default: shoal.db in the data directory) or postgres://USER:PASSWORD@HOST/NAME." placeholder:"URL" secret:"url" group:"Address and database"`
	// Bus is auto, memory, postgres or the URLs of NATS servers, separated by commas.
	Bus string `help:"How servers on one PostgreSQL database notify each other: postgres (through the database), nats://HOST:PORT[,…], or memory, which refuses a second server. auto is postgres, and memory for SQLite." default:"auto" secret:"url" group:"Address and database"`
	// Node is the name of this server among those on the same database.
	Node string `help:"Name of this server in lists of servers (default: the name of the machine)." placeholder:"NAME" group:"Address and database"`
	// Auth off admits every caller that can reach the server; on loopback only.
	Auth string `help:"Authentication: off lets every process on this machine act as any entity, and is allowed on a loopback address only." enum:"on,off" default:"on" group:"Callers, proxies and HTTPS"`
	// AllowOrigins and AllowHosts extend what the guard accepts.
	AllowOrigins []string `name:"allow-origin" help:"Accept requests from web pages with these origins; repeatable." placeholder:"ORIGIN" group:"Callers, proxies and HTTPS"`
	AllowHosts   []string `name:"allow-host" help:"Accept requests for these host names only (default: loopback names on a loopback address, else any); repeatable." placeholder:"HOST" group:"Callers, proxies and HTTPS"`
	// TrustProxies are the networks of proxies whose X-Forwarded-For is trusted as
	// the origin of a request; empty by default.
	TrustProxies []string `name:"trust-proxy" help:"Trust X-Forwarded-For from proxies in these networks, such as 10.0.0.0/8; repeatable." placeholder:"CIDR" group:"Callers, proxies and HTTPS"`
	// TLSCert and TLSKey are the files of a certificate and its private key, in PEM. With
	// them the server speaks HTTPS.
	TLSCert string `name:"tls-cert" help:"Serve HTTPS with the certificate in this file (PEM, with its chain). It is read anew when it changes." placeholder:"FILE" group:"Callers, proxies and HTTPS"`
	TLSKey  string `name:"tls-key" help:"The private key of --tls-cert (PEM)." placeholder:"FILE" group:"Callers, proxies and HTTPS"`
	// ACME are the domains for which certificates are obtained, renewed and kept in Data.
	ACME []string `name:"acme" help:"Serve HTTPS with a certificate for this domain that is obtained and renewed by itself, by default from Let's Encrypt, whose terms you accept with it; repeatable. The authority must reach the server on port 443." placeholder:"DOMAIN" group:"Callers, proxies and HTTPS"`
	// ACMEEmail, ACMEDirectory and ACMERoots say at which authority and for whom.
	ACMEEmail     string `name:"acme-email" help:"Where the authority of --acme writes to when there is a problem." placeholder:"ADDRESS" group:"Callers, proxies and HTTPS"`
	ACMEDirectory string `name:"acme-directory" help:"The directory URL of another authority than Let's Encrypt." placeholder:"URL" group:"Callers, proxies and HTTPS"`
	ACMERoots     string `name:"acme-roots" help:"Trust the authority of --acme-directory by the certificates in this file (PEM)." placeholder:"FILE" group:"Callers, proxies and HTTPS"`
	// Insecure allows plain HTTP on an address that other machines reach.
	Insecure bool `help:"Allow plain HTTP on an address that other machines reach: keys and messages can be read on the way." group:"Callers, proxies and HTTPS"`
	// PublicURL is the origin under which browsers reach the server, such as that of a proxy.
	PublicURL string `name:"public-url" help:"The address under which browsers reach the server, such as https://shoal.example.com, if that is a proxy's: pages of this origin are the server's own." placeholder:"URL" group:"Callers, proxies and HTTPS"`
	// OIDCIssuer and the fields after it say how people sign in to the console with their accounts
	// at an OpenID provider. The client secret is also read from SHOAL_OIDC_CLIENT_SECRET.
	OIDCIssuer      string   `name:"oidc-issuer" help:"Let people sign in to the console with their accounts at this OpenID provider." placeholder:"URL" group:"Sign-in with an OpenID provider"`
	OIDCClientID    string   `name:"oidc-client-id" help:"The id of this server as a client of the OpenID provider." placeholder:"ID" group:"Sign-in with an OpenID provider"`
	OIDCSecretFile  string   `name:"oidc-client-secret-file" help:"Read the client secret for the OpenID provider from this file, instead of the variable SHOAL_OIDC_CLIENT_SECRET." placeholder:"FILE" group:"Sign-in with an OpenID provider"`
	OIDCName        string   `name:"oidc-name" help:"Name of the OpenID provider on the sign-in page (default: its host)." placeholder:"NAME" group:"Sign-in with an OpenID provider"`
	OIDCSession     string   `name:"oidc-session" help:"Session in which people are created at their first sign-in." default:"default" placeholder:"ID" group:"Sign-in with an OpenID provider"`
	OIDCSpaces      []string `name:"oidc-space" help:"Make new people members of this space; repeatable." placeholder:"ID" group:"Sign-in with an OpenID provider"`
	OIDCDomains     []string `name:"oidc-domain" help:"Admit people with verified e-mail addresses of this domain; repeatable. * admits every account of the provider." placeholder:"DOMAIN" group:"Sign-in with an OpenID provider"`
	OIDCGroups      []string `name:"oidc-group" help:"Admit the members of this group; repeatable." placeholder:"GROUP" group:"Sign-in with an OpenID provider"`
	OIDCGroupsClaim string   `name:"oidc-groups-claim" help:"The claim with the groups of a person." default:"groups" placeholder:"CLAIM" group:"Sign-in with an OpenID provider"`
	OIDCRoles       []string `name:"oidc-role" help:"Give the members of a group a role in the session, such as shoal-admins=owner; repeatable, and the first that fits counts. With it, others become members at each sign-in." placeholder:"GROUP=ROLE" group:"Sign-in with an OpenID provider"`
	OIDCScopes      []string `name:"oidc-scope" help:"Request this scope besides openid, profile and email, such as groups; repeatable." placeholder:"SCOPE" group:"Sign-in with an OpenID provider"`
	// JWTIssuer and JWTAudience say whose access tokens (JWT) are accepted as the people they are for. Who may enter,
	// session, spaces and roles are those of the fields above.
	JWTIssuer   string `name:"jwt-issuer" help:"Accept access tokens (JWT) of this issuer in the API, as the people whom they are for. Who may enter, session, spaces and roles are set with --oidc-domain, --oidc-group, --oidc-session, --oidc-space and --oidc-role." placeholder:"URL" group:"Sign-in with an OpenID provider"`
	JWTAudience string `name:"jwt-audience" help:"The audience that tokens of --jwt-issuer must have: how the issuer calls this server." placeholder:"NAME" group:"Sign-in with an OpenID provider"`
	// ClientDocuments says whether MCP clients that are described by a document sign in without
	// registering: "on", "off", or "auto" and "", which is on where others reach the server.
	ClientDocuments string `help:"Read the documents by which MCP clients describe themselves when they sign in. off makes them register instead, where the server does not reach the internet; auto is off on a loopback address without --public-url." enum:"auto,on,off" default:"auto" group:"Callers, proxies and HTTPS"`
	// AllowPrivate are the loopback and private networks, such as 10.0.0.0/8, that
	// agents' request tools and MCP servers may call, and where push services of
	// browsers and documents of MCP clients may be; empty by default.
	AllowPrivate []string `help:"Let agents' request tools and MCP servers, notifications to browsers, and the documents of MCP clients, reach these loopback and private networks, such as 10.1.0.0/16; repeatable." placeholder:"CIDR" group:"What agents can reach"`
	// AllowEnv names the environment variables that agent configs may use as
	// ${env.NAME}; empty by default. The server's own variables and model API keys
	// are refused.
	AllowEnv []string `help:"Let agent configs use these environment variables as ${env.NAME}; repeatable. Model API keys and SHOAL_ variables are refused." placeholder:"NAME" group:"What agents can reach"`
	// MaxCallsPerSecond is the sustained rate of calls of one entity or service; a
	// burst may have ten times as many. A negative value removes the limit. Admins
	// have no limit.
	MaxCallsPerSecond int `help:"Sustained calls per second of one entity or service; a burst may have ten times as many. -1 removes the limit. Admins have no limit." default:"1000" group:"Limits"`
	// MaxSpacesEach and MaxFileMiBEach limit what one entity creates and stores.
	MaxSpacesEach  int `name:"max-spaces-each" help:"Number of spaces that one entity may create in its session." default:"1000" group:"Limits"`
	MaxFileMiBEach int `name:"max-file-mib-each" help:"MiB of files that one entity may store in its session." default:"1024" group:"Limits"`
	// MaxWaits and MaxStreams limit the open waits and streams of this server.
	MaxWaits   int `help:"Number of waits that may be open at once." default:"20000" group:"Limits"`
	MaxStreams int `help:"Number of event streams that may be open at once; one caller may have 20." default:"10000" group:"Limits"`
	// Audit says whether acts are recorded in the audit log, and refused if they cannot be.
	// AuditLog is a file that the records are copied to; empty means none.
	Audit    string `help:"The audit log of who did what: on; required, which refuses an act while its record cannot be copied to --audit-log; or off." enum:"required,on,off" default:"on" group:"Audit log, metrics and log"`
	AuditLog string `name:"audit-log" help:"Copy the records of the audit log to this file, as JSON lines; it may be moved away at any time." placeholder:"FILE" group:"Audit log, metrics and log"`
	// KeepMessages is how long a message is kept after it was posted, KeepRuns how long a run
	// after its end, and KeepRequests how long its model requests: 30d, 12h, or forever. A session
	// can say less.
	KeepMessages string `help:"How long to keep messages, such as 365d, or forever; a session can say less." default:"forever" placeholder:"TIME" group:"Audit log, metrics and log"`
	KeepRuns     string `help:"How long to keep runs after they end, such as 90d, or forever; a session can say less." default:"forever" placeholder:"TIME" group:"Audit log, metrics and log"`
	KeepRequests string `help:"How long to keep the model requests of a run after it ends, such as 30d or 12h, or forever; a session can say less." default:"30d" placeholder:"TIME" group:"Audit log, metrics and log"`
	// MetricsAddr is the host:port of a second listener, which serves /metrics without
	// a key. Empty disables it.
	MetricsAddr string `help:"Also serve /metrics on this address, without a key. On the server's own address it requires an admin key." placeholder:"HOST:PORT" group:"Audit log, metrics and log"`
	// OTLP is the base URL of an OpenTelemetry receiver; empty sends nothing. OTLPContent also
	// sends texts. Headers are read from OTEL_EXPORTER_OTLP_HEADERS.
	OTLP        string `name:"otlp" help:"Send OpenTelemetry traces and metrics of the runs of hosted agents to this receiver, over OTLP/HTTP; /v1/traces and /v1/metrics are added to the URL." placeholder:"URL" secret:"url" group:"Audit log, metrics and log"`
	OTLPContent bool   `name:"otlp-content" help:"Also send what models and tools were sent and answered: instructions, messages, arguments, results. They can contain personal data and secrets." group:"Audit log, metrics and log"`
	// LogFormat and LogLevel are the settings that Log was created with; see
	// internal/logs.
	LogFormat string `help:"Format of the log." enum:"text,json" default:"text" group:"Audit log, metrics and log"`
	LogLevel  string `help:"Minimum level to log; debug logs every call." enum:"debug,info,warn,error" default:"info" group:"Audit log, metrics and log"`
	// Keys looks up model API keys by the names of their variables; nil uses the
	// environment.
	Keys func(name string) string `kong:"-"`
	// DetachAfter is how long a wait blocks before its connection is detached (see
	// internal/detach); zero means 100 ms.
	DetachAfter time.Duration `kong:"-"`
	// ProgramLease is for how long a program holds a run without a sign of life (see
	// [remoterun.Options]).
	ProgramLease time.Duration `kong:"-"`
	// Manager is the service manager that runs the server, empty if there is none.
	Manager background.Manager `kong:"-"`
	// Version is the version that the server reports.
	Version string `kong:"-"`
	// Log receives log records for the operator; nil discards them.
	Log *slog.Logger `kong:"-"`
	// Out receives the greeting for the person at the terminal; nil discards
	// it. Terminal reports that a person reads Out and that it is not stored: only then
	// may it contain a secret. Command is how that person runs the command line.
	Out      io.Writer `kong:"-"`
	Terminal bool      `kong:"-"`
	Command  string    `kong:"-"`

	announce bool // write server.json to the data directory

	private []netip.Prefix // AllowPrivate
	proxies []netip.Prefix // TrustProxies
}

// Check returns the error that Start would return for an invalid configuration. It
// has no side effects.
func (c Config) Check() error {
	_, err := c.complete()
	return err
}

// open reports whether callers need no key.
func (c Config) open() bool { return c.Auth == "off" }

// complete returns c with its defaults, or an error if the configuration is invalid.
func (c Config) complete() (Config, error) {
	const op = "app.Config"
	if c.Data == "" {
		return c, shoal.E(op, shoal.InvalidArgument, "The data directory is missing: set --data.")
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
		return c, shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--addr %s is not a host:port, such as %s.", c.Addr, DefaultAddr))
	}
	if _, err := c.keep(); err != nil {
		return c, err
	}
	if c.Auth != "on" && c.Auth != "off" {
		return c, shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--auth %s is invalid: use on or off.", c.Auth))
	}
	if c.open() && !Loopback(host) {
		return c, shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--auth off admits every caller and is allowed on loopback only, not on %s.", c.Addr))
	}
	if err := c.checkTransport(); err != nil {
		return c, err
	}
	if err := c.allowed(); err != nil {
		return c, err
	}
	if err := c.checkPeople(); err != nil {
		return c, err
	}
	if c.Node == "" {
		c.Node = nodeName()
	}
	if naming.Check("node", c.Node) != nil {
		return c, shoal.E(op, shoal.InvalidArgument, "--node is not a name: use letters, digits and dashes, such as server-1.")
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
			return c, shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--metrics-addr %s is not a host:port, such as 127.0.0.1:9464.", c.MetricsAddr))
		}
	}
	c.Log = logs.Redacting(c.Log, c.secrets())
	if err := c.checkOTLP(); err != nil {
		return c, err
	}
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.Command == "" {
		c.Command = "shoal"
	}
	return c, nil
}

// DefaultDatabase returns the URL of the SQLite database in a data directory.
func DefaultDatabase(data string) string { return "sqlite://" + filepath.Join(data, "shoal.db") }

// defaults sets every setting that is zero to the default in its tag.
func (c *Config) defaults() {
	fields := reflect.ValueOf(c).Elem()
	for i := range fields.NumField() {
		text, has := fields.Type().Field(i).Tag.Lookup("default")
		field := fields.Field(i)
		if !has || !field.IsZero() {
			continue
		}
		if err := setText(field, text); err != nil {
			panic(err) // a tag of Config is invalid
		}
	}
}

// setText parses text as the command line does and sets the field to its value.
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
		err = fmt.Errorf("a setting of type %s cannot have a default in a tag", field.Type())
	}
	return err
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// allowed parses the networks of c and checks the names of AllowEnv.
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
			return shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--allow-env %q is not the name of an environment variable.", name))
		case agentconfig.IsProtected(name):
			return shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--allow-env %s is refused: that variable belongs to the server, and agent configs may not read it.", name))
		}
	}
	return nil
}

// networks parses the networks of a setting.
func networks(setting string, texts []string) (out []netip.Prefix, _ error) {
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, shoal.E("app.Config", shoal.InvalidArgument, fmt.Sprintf("%s %s is not a network: write it as 10.0.0.0/8, or 127.0.0.1/32 for one address.", setting, text))
		}
		out = append(out, network.Masked())
	}
	return out, nil
}

// Loopback reports whether host, without a port, is this machine only.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
