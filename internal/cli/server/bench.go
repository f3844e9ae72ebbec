package server

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/load"
)

// BenchCommand is shoal bench.
type BenchCommand struct {
	Throwaway bool          `help:"Start a server with an empty database on this machine, measure it, and delete it."`
	Only      []string      `help:"Measure only these: posts, wakes, waits, streams." enum:"posts,wakes,waits,streams" placeholder:"NAME"`
	Length    time.Duration `help:"How long posts and streams are measured, each time." default:"2s"`
	Waits     int           `help:"How many waits are open at once." default:"100"`
	Readers   int           `help:"How many streams are open at once." default:"100"`
}

// The most that one process can have open without more ado.
const (
	mostWaits   = 5000
	mostReaders = 2000
	mostLength  = time.Minute
)

var benchHead = []string{"MEASURED", "API", "OPERATIONS", "PER SECOND", "P50 MS", "P99 MS", "LOST"}

// benchResult is what a measurement found, and of what.
type benchResult struct {
	URL     string             `json:"url"`
	Version string             `json:"version"` // of this program
	At      shoal.Time         `json:"at"`
	Figures []load.Measurement `json:"figures"`
}

// Run measures a server.
func (c *BenchCommand) Run(ctx context.Context, sh *cli.Shell) (err error) {
	if err := c.validate(); err != nil {
		return err
	}
	url, admin := sh.URL, (*client.Client)(nil)
	if c.Throwaway {
		server, err := startThrowaway(ctx)
		if err != nil {
			return err
		}
		defer func() { err = firstError(err, server.stop()) }()
		url = server.url
		admin, err = client.New(client.Options{URL: url, Key: server.key})
		if err != nil {
			return err
		}
	} else if admin, err = sh.Client(); err != nil {
		return err
	}
	found := benchResult{URL: url, Version: sh.Stamp.Build().Version, At: shoal.Now(), Figures: []load.Measurement{}}
	var rows [][]string
	sh.Output.Note("measuring %s, in a session of its own that is deleted in the end; others that use it now will feel it", url)
	survey := load.Survey{
		URL: url, Admin: admin, Only: c.Only, Length: c.Length, Waits: c.Waits, Readers: c.Readers,
		Report: func(f load.Measurement) {
			found.Figures, rows = append(found.Figures, f), append(rows, resultRow(f))
			sh.Output.Note("%s over %s: done", f.Name, f.API)
		},
	}
	if err := survey.Run(ctx); err != nil {
		return err
	}
	if err := sh.Output.PrintTable(found, benchHead, rows...); err != nil {
		return err
	}
	sh.Output.Note("times are those that this program saw; where it shares a machine with the server, each slows the other down")
	return nil
}

func resultRow(f load.Measurement) []string {
	perSecond := "-"
	if f.PerSecond != nil {
		perSecond = digits(*f.PerSecond)
	}
	return []string{f.Name, f.API, strconv.Itoa(f.Operations), perSecond, digits(f.P50Ms), digits(f.P99Ms), cli.Itoa(f.Lost)}
}

// digits writes as many as a measurement is good for.
func digits(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

func (c *BenchCommand) validate() error {
	switch {
	case c.Length <= 0 || c.Length > mostLength:
		return shoal.E("", cli.KindUsage, fmt.Sprintf("--length must be more than 0 and at most %v", mostLength))
	case c.Waits < 1 || c.Waits > mostWaits:
		return shoal.E("", cli.KindUsage, fmt.Sprintf("--waits must be 1 to %d", mostWaits))
	case c.Readers < 1 || c.Readers > mostReaders:
		return shoal.E("", cli.KindUsage, fmt.Sprintf("--readers must be 1 to %d", mostReaders))
	}
	return nil
}

// firstError is the error that came first.
func firstError(first, second error) error {
	if first != nil {
		return first
	}
	return second
}
