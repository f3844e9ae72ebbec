package remoterun

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal"
)

// giveBackWithin is how long runs may take to be given back.
const giveBackWithin = 5 * time.Second

// GiveBack lets other programs claim runs at once whose claim did not reach its program. Without it,
// they could when the leases have ended, and that is still so if it fails. It goes on after the end of
// ctx.
func (s *Server) GiveBack(ctx context.Context, caller shoal.Principal, session shoal.SessionID, claimed []shoal.RemoteRun) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), giveBackWithin)
	defer stop()
	for _, r := range claimed {
		if _, err := s.Work(ctx, caller, session, r.Run.ID, r.Generation, []shoal.WorkLine{{N: 1, Type: shoal.WorkReleased}}); err != nil {
			s.o.Log.Warn("a claimed run cannot be given back; it can be claimed when its lease has ended", "session", session, "run", r.Run.ID, "error", err)
		}
	}
}
