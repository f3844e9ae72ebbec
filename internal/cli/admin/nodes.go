package admin

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

// NodesCommand is shoal nodes.
type NodesCommand struct{}

var nodeHead = []string{"NAME", "VERSION", "BUS", "STARTED", "SEEN", "ID"}

func nodeRow(o *cli.Output, n shoal.Node) []string {
	bus := "up"
	if n.Bus != "" {
		bus = "down: " + n.Bus
	}
	return []string{n.Name, n.Version, bus, o.FormatTime(&n.StartedAt, "-"), time.Since(n.SeenAt.Time).Round(time.Second).String() + " ago", string(n.ID)}
}

// Run lists the servers.
func (*NodesCommand) Run(ctx context.Context, sh *cli.Shell) error {
	c, err := sh.Client()
	if err != nil {
		return err
	}
	all, err := cli.Collect(c.Nodes(ctx))
	if err != nil {
		return err
	}
	if len(all.Items) == 0 && !sh.Output.JSON {
		sh.Output.Note("this server shares its database with no other; start several with --database postgres://…")
		return nil
	}
	var rows [][]string
	for _, n := range all.Items {
		rows = append(rows, nodeRow(sh.Output, n))
	}
	return sh.Output.PrintTable(all, nodeHead, rows...)
}
