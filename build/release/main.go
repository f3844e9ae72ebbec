// Command release builds everything that a release of Shoal consists of: a static
// binary for each platform, archives, packages, an image, an installer, checksums
// and lists of components. `make release VERSION=1.2.3` runs it.
//
// What it writes depends on the commit, the version, the Go version and the lock files
// alone: two runs on different machines write the same bytes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"aead.dev/minisign"
)

// semver is what npm, Homebrew, Scoop, dpkg and rpm accept alike.
var semver = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.]+)?$`)

// options are what the command line says.
type options struct {
	root    string // the repository
	out     string // where the release is written; emptied first
	version string
	commit  string
	date    time.Time // of the commit
	baseURL string    // where the files will be downloaded from
	targets []target
	signKey *minisign.PrivateKey // nil writes no signature
	only    bool                 // check the types for every target, and write nothing
	compile bool                 // compile and vet for every target, too
	notices bool                 // write the notices about the works of others, and nothing else
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	o, err := parse(ctx, args)
	if err != nil {
		return err
	}
	if o.only {
		return o.check(ctx)
	}
	if o.notices {
		return o.writeNotices(ctx)
	}
	if err := os.RemoveAll(o.out); err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	r := &release{options: o}
	for _, step := range []func(context.Context) error{
		r.buildBinaries, r.writeArchives, r.writePackages, r.writeImage, r.writeNPM,
		r.writeManifest, r.writeInstallers, r.writeChecksums, r.sign,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return os.RemoveAll(r.scratch())
}

func parse(ctx context.Context, args []string) (o options, err error) {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&o.root, "root", "..", "the repository")
	flags.StringVar(&o.out, "out", "../dist", "the directory to write; what is in it is deleted")
	flags.StringVar(&o.version, "version", "", "the version, such as 1.2.3")
	flags.StringVar(&o.baseURL, "base-url", "", "where the files will be downloaded from (default: the releases of the project)")
	signKey := flags.String("sign", os.Getenv("SHOAL_SIGNING_KEY"), "sign SHA256SUMS with the secret key of minisign in this file; its password is in SHOAL_SIGNING_PASSWORD")
	targets := flags.String("targets", "", "build these platforms only, such as linux/amd64,darwin/arm64")
	uncommitted := flags.Bool("uncommitted", false, "build the files as they are, though they are not committed")
	flags.BoolVar(&o.only, "check", false, "check that the types fit on every platform, and write nothing")
	flags.BoolVar(&o.compile, "compile", false, "with -check, also compile and vet the program for every platform")
	flags.BoolVar(&o.notices, "notices", false, "write the notices about the works of others that are embedded, and nothing else")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.targets, err = selectTargets(*targets); err != nil {
		return o, err
	}
	for _, dir := range []*string{&o.root, &o.out} {
		if *dir, err = filepath.Abs(*dir); err != nil {
			return o, err
		}
	}
	if o.only || o.notices {
		return o, nil
	}
	if !semver.MatchString(o.version) {
		return o, fmt.Errorf("version %q is not of the form 1.2.3 or 1.2.3-rc.1; run `make release VERSION=1.2.3`", o.version)
	}
	if *signKey != "" { // a wrong one is reported before anything is built
		if o.signKey, err = readSigningKey(*signKey, os.Getenv("SHOAL_SIGNING_PASSWORD")); err != nil {
			return o, err
		}
	}
	if o.baseURL == "" {
		o.baseURL = repository + "/releases/download/v" + o.version
	}
	return o, o.readCommit(ctx, *uncommitted)
}

// readCommit fills in commit and date. Files that are not in the commit would make the
// release one that nobody else can build.
func (o *options) readCommit(ctx context.Context, uncommitted bool) error {
	git := func(args ...string) (string, error) {
		out, err := output(ctx, o.root, nil, "git", args...)
		return strings.TrimSpace(string(out)), err
	}
	changed, err := git("status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" && !uncommitted {
		return fmt.Errorf("the working tree differs from the commit; commit or remove these, or pass -uncommitted:\n%s", changed)
	}
	if o.commit, err = git("rev-parse", "HEAD"); err != nil {
		return err
	}
	seconds, err := git("log", "-1", "--format=%cI")
	if err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, seconds)
	o.date = at.UTC()
	return err
}
