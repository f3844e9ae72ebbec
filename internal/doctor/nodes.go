package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
)

// nodes checks whether the servers that share the database hear each other. Only admins may ask.
func (x *examination) nodes(ctx context.Context) {
	const check = "servers"
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	var names, deaf []string
	for n, err := range x.client.Nodes(ctx) {
		if errors.Is(err, shoal.Forbidden) {
			return
		}
		if err != nil {
			x.fail(check, message(err), "check the log of the server")
			return
		}
		names = append(names, n.Name)
		if n.Bus != "" {
			deaf = append(deaf, n.Name+": "+n.Bus)
		}
	}
	switch {
	case len(names) == 0: // it shares its database with no other
	case len(deaf) > 0:
		x.warn(check, "the bus is down, so notifications are up to four seconds late: "+strings.Join(deaf, "; "), "check that each server reaches what --bus names, and that they all name the same")
	case len(names) == 1:
		x.ok(check, names[0]+" is the only one on its database, and its bus is up")
	default:
		x.ok(check, fmt.Sprintf("%s share the database and hear each other", strings.Join(names, ", ")))
	}
}
