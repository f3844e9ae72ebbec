package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/background"
	"github.com/shoal-dev/shoal/internal/certificate"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/modelenv"
)

// UpCommand is shoal up.
type UpCommand struct {
	Addr       string        `help:"Address to listen on; port 0 picks a free port (default: the configured address, or 127.0.0.1:7462)." placeholder:"HOST:PORT"`
	Foreground bool          `help:"Stay in this terminal: Ctrl-C stops the server."`
	Service    bool          `help:"Use systemd or launchd where this user has it; --no-service starts a process without them." default:"true" negatable:""`
	Open       bool          `help:"Open the console in a browser if there is a display." default:"true" negatable:""`
	Timeout    time.Duration `help:"How long to wait until the server is ready." default:"1m"`
}

// upResult is what up has to say.
type upResult struct {
	URL     string             `json:"url"`
	Version string             `json:"version"`
	PID     int                `json:"pid"`
	Manager background.Manager `json:"manager"`
	Started bool               `json:"started"`
	Data    string             `json:"data"`
	Log     string             `json:"log"`
}

// Run starts the server unless it runs, waits until it is ready, and opens the console.
func (c *UpCommand) Run(ctx context.Context, sh *cli.Shell, chosen *kong.Context) error {
	service, err := backgroundService(sh)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(service.Data, 0o700); err != nil {
		return shoal.E("", shoal.InvalidArgument, "The data directory cannot be created: "+err.Error())
	}
	waiting, cancel := context.WithTimeoutCause(ctx, c.Timeout, shoal.E("", cli.KindTimedOut, fmt.Sprintf("it was not ready within %v", c.Timeout)))
	defer cancel()
	unlock, err := service.Lock(waiting)
	if err != nil {
		return err
	}
	defer unlock()
	running, alive, err := service.Running()
	if err != nil {
		return err
	}
	if !alive {
		if err := c.checkAddress(ctx); err != nil {
			return err
		}
		if c.Foreground {
			unlock()
			return c.foreground(ctx, sh, chosen, service)
		}
		if err := service.Start(waiting, c.definition(waiting, sh, chosen, service)); err != nil {
			return err
		}
	}
	if running, err = service.AwaitReady(waiting, checkReady); err != nil {
		if errors.Is(err, background.ErrEnded) {
			err = errors.Join(err, service.Stop(ctx)) // nothing is to start again what cannot work
		}
		return reportNotUp(sh, service, err)
	}
	out := upResult{URL: running.URL, Version: running.Version, PID: running.PID, Manager: running.Manager, Started: !alive, Data: service.Data, Log: service.LogPath()}
	if err := sh.Output.PrintTable(out, []string{"URL", "VERSION", "PID", "DATA"}, []string{out.URL, out.Version, fmt.Sprint(out.PID), out.Data}); err != nil {
		return err
	}
	c.printNotes(sh, out, running.Certificate != "")
	return showConsole(sh, ctx, running, c.Open)
}

// printNotes says what a person should know about the server that runs.
func (c *UpCommand) printNotes(sh *cli.Shell, r upResult, secure bool) {
	switch {
	case !r.Started && r.Manager == "":
		sh.Output.Note("it was running already; it was not started with `shoal up`, so `shoal down` does not stop it")
	case !r.Started:
		sh.Output.Note("it was running already; `shoal down` stops it")
	case r.Manager == background.Process:
		sh.Output.Note("it runs in the background until `shoal down`; it logs to %s", r.Log)
	default:
		sh.Output.Note("%s runs it, also after you sign in again, until `shoal down`; it logs to %s", r.Manager, r.Log)
	}
	if !r.Started && r.Version != sh.Stamp.Build().Version {
		sh.Output.Note("it runs version %s, and this program is %s: `shoal down` and `shoal up` start this one", r.Version, sh.Stamp.Build().Version)
	}
	if !secure && r.URL != "http://"+app.DefaultAddr && sh.URL != r.URL { // that with TLS is found in the data directory
		sh.Output.Note("other commands reach it with --url %s, or SHOAL_URL", r.URL)
	}
}

// backgroundService returns the server of the data directory.
func backgroundService(sh *cli.Shell) (background.Service, error) {
	data, err := sh.DataDir()
	if err == nil {
		data, err = filepath.Abs(data)
	}
	return background.Service{Data: data}, err
}

// definition says how the server is started: with the settings that hold here and now.
func (c *UpCommand) definition(ctx context.Context, sh *cli.Shell, chosen *kong.Context, service background.Service) background.Definition {
	d := background.Definition{Manager: background.Process, Program: programPath(), Env: map[string]string{}}
	if c.Service {
		d.Manager = background.Detect(ctx)
	}
	d.Args = []string{"serve", "--quiet", "--managed-by", string(d.Manager), "--data", service.Data}
	if c.Addr != "" {
		d.Args = append(d.Args, "--addr", c.Addr)
	}
	if used := sh.Sources.UsedFile(); used != "" {
		if path, err := filepath.Abs(used); err == nil {
			d.Args = append(d.Args, "--config", path)
		}
	}
	configured, _ := sh.Sources.Value("allow-env")
	for _, name := range slices.Concat(environmentNames(chosen.Model.Node), strings.Split(os.Getenv("SHOAL_ALLOW_ENV"), ","), configured.List) {
		if value, set := os.LookupEnv(name); set && name != "" {
			d.Env[name] = value
		}
	}
	return d
}

// environmentNames are the variables that a server in the background gets from the
// terminal where `shoal up` was called: its settings, the keys of models, and what the
// network and the Go runtime want.
func environmentNames(root *kong.Node) []string {
	names := slices.Concat(modelenv.Names(), []string{
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"GOMEMLIMIT", "GOGC", "GOMAXPROCS", "TZ", "TMPDIR",
	})
	for _, flag := range cli.Settings(root) {
		if flag.Name != "addr" { // it is an argument
			names = append(names, flag.Envs...)
		}
	}
	return names
}

// programPath returns a stable path of this program: the name on PATH rather than the
// versioned path of a package manager that it links to.
func programPath() string {
	self, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	if found, err := exec.LookPath("shoal"); err == nil && sameFile(found, self) {
		if found, err = filepath.Abs(found); err == nil {
			return found
		}
	}
	return self
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// checkAddress returns an error if the address is in use: it names the process that listens there, and a free address.
func (c *UpCommand) checkAddress(ctx context.Context) error {
	addr := cmp.Or(c.Addr, app.DefaultAddr)
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err == nil {
		return l.Close()
	}
	host, _, splits := net.SplitHostPort(addr)
	if splits != nil {
		return shoal.E("", cli.KindUsage, fmt.Sprintf("--addr %s is not HOST:PORT, such as %s", addr, app.DefaultAddr))
	}
	other, free := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if free != nil {
		return shoal.E("", shoal.InvalidArgument, fmt.Sprintf("--addr %s cannot be used: %v", addr, err))
	}
	suggested := other.Addr().String()
	_ = other.Close() // it was opened for its number
	return shoal.E("", cli.KindPortTaken, fmt.Sprintf("%s is in use by %s. Choose another address, for example `shoal up --addr %s`.", addr, describeListener(ctx, addr), suggested))
}

// checkReady says whether a server is ready. Any answer but that of a server
// that cannot work yet will do: it may be meant for other host names.
func checkReady(ctx context.Context, r background.Record) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	server := clientOf(r)
	defer server.CloseIdleConnections()
	res, err := server.Do(req)
	if err != nil {
		return err
	}
	_ = res.Body.Close() // the status says it all
	if res.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("%s/readyz answers %s", r.URL, res.Status)
	}
	return nil
}

// localHTTP reaches servers on this machine, past any proxy.
var localHTTP = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// clientOf returns a client for a server on this machine.
func clientOf(r background.Record) *http.Client {
	if r.Certificate == "" {
		return localHTTP
	}
	return certificate.LocalClient(r.Certificate)
}

// foreground runs the server in this process, and opens the console once it is ready.
func (c *UpCommand) foreground(ctx context.Context, sh *cli.Shell, chosen *kong.Context, service background.Service) error {
	serve, err := parsedServe(sh, c.Addr, chosen)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	opened := make(chan error, 1)
	go func() { // ends with the server at the latest
		if !c.Open || !sh.Output.HasDisplay() {
			opened <- nil // the greeting says how to open it
			return
		}
		r, err := service.AwaitReady(ctx, checkReady)
		if err == nil {
			err = showConsole(sh, ctx, r, true)
		}
		opened <- err
	}()
	err = serve.Run(ctx, sh, chosen)
	cancel()
	if failed := <-opened; err == nil && failed != nil && !errors.Is(failed, context.Canceled) && !errors.Is(failed, background.ErrEnded) {
		sh.Output.Note("the console was not opened: %s", cli.ErrorText(failed))
	}
	return err
}

// parsedServe returns the command serve with the settings that hold here.
func parsedServe(sh *cli.Shell, addr string, chosen *kong.Context) (*ServeCommand, error) {
	args := []string{"serve"}
	if addr != "" {
		args = append(args, "--addr", addr)
	}
	for _, p := range chosen.Path {
		if p.Flag != nil && p.Flag.Name == "config" && !p.Resolved {
			args = append(args, "--config", fmt.Sprint(chosen.FlagValue(p.Flag)))
		}
	}
	_, parsed, err := sh.Parse(args...)
	if err != nil {
		return nil, err
	}
	serve, ok := parsed.Selected().Target.Addr().Interface().(*ServeCommand)
	if !ok {
		return nil, shoal.E("", shoal.Internal, "the grammar has another command serve")
	}
	return serve, nil
}

// showConsole opens the console, signed in, or says how to. A link that signs in goes to a
// browser or a terminal only: logs and pipes keep what they get.
func showConsole(sh *cli.Shell, ctx context.Context, r background.Record, open bool) error {
	if sh.Output.JSON || sh.Output.Quiet {
		return nil
	}
	command := "shoal console --admin"
	if sh.Data != "" {
		command += " --data " + shellWord(sh.Data)
	}
	if r.Certificate == "" && r.URL != "http://"+app.DefaultAddr {
		command += " --url " + r.URL
	}
	data, err := sh.DataDir()
	if err != nil {
		return err
	}
	key, err := app.ReadAdminKey(data)
	if !sh.Output.Terminal || err != nil {
		sh.Output.Note("open the console with a link that works once: `%s` makes it", command) // the key may be kept elsewhere
		return nil                                                                             //nolint:nilerr // without the key, the person has to say where it is
	}
	server, err := client.New(client.Options{URL: r.URL, HTTP: clientOf(r), Key: key, RetryFor: -1})
	if err != nil {
		return err
	}
	link, err := server.ConsoleLink(ctx)
	if err != nil {
		return err
	}
	if open && sh.Output.HasDisplay() && cli.Browse(ctx, link.URL) == nil {
		sh.Output.Note("the console is opened in your browser; `%s` makes another link", command)
		return nil
	}
	return sh.Output.Write("\nOpen the console; the link works once, within ten minutes:\n  " + link.URL + "\n")
}
