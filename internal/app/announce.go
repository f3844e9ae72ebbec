package app

import (
	"context"
	"os"
	"strings"

	"github.com/shoal-dev/shoal/internal/background"
)

// announce describes this server in its data directory, for `shoal up`, `shoal down` and
// `shoal upgrade`. While an older server of the directory is ending it does nothing, and
// is called again once this one serves. Without a description the server works all the same.
func (s *Server) announce(ctx context.Context) {
	if !s.config.announce {
		return
	}
	r := background.Record{PID: os.Getpid(), Version: s.config.Version, Manager: s.config.Manager, Database: "sqlite"}
	if !strings.HasPrefix(s.config.Database, "sqlite://") {
		r.Database = "postgres"
	}
	if s.listener != nil {
		r.URL = s.here()
		if s.transport.local != nil {
			r.Certificate = s.transport.local.PEM
		}
	}
	var err error
	if s.announced {
		err = s.announcement.Update(r)
	} else {
		s.announcement, s.announced, err = background.Announce(ctx, s.config.Data, r)
	}
	if err != nil {
		s.config.Log.Warn("the server cannot describe itself in its data directory: `shoal up` and `shoal down` do not find it", "error", err)
	}
}
