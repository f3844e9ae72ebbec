package app

import (
	"context"
	"time"
)

// stopWithin is how long Stop waits for handlers before it cancels them.
const stopWithin = 4 * time.Second

// Stop ends the server. It may be called once.
func (s *Server) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	s.transport.stop(false)
	shut := s.shutDown(ctx)
	s.stopExecuting(ctx)
	sent := s.stopTelemetry()
	if s.Hub != nil {
		s.Hub.Stop()
	}
	if s.http != nil {
		s.mcp.Stop()
		<-shut
		s.pool.Stop(ctx)
		s.cut()
	}
	if s.figures != nil {
		_ = s.figures.Close() // its readers come back
	}
	s.ready.stop()
	if s.bus != nil {
		s.bus.Stop()
	}
	if s.store != nil {
		if err := s.store.Close(); err != nil {
			s.config.Log.Error("the database did not close cleanly; it recovers at the next start", "error", err)
		}
	}
	<-sent
	s.closeAuditLog()
	s.transport.stop(true)
	s.announcement.End()
}

// shutDown refuses new connections and closes the returned channel when all handlers
// have returned, which they do when the hub stops. It cancels handlers that are still
// running when ctx ends.
func (s *Server) shutDown(ctx context.Context) <-chan struct{} {
	done := make(chan struct{})
	if s.http == nil {
		close(done)
		return done
	}
	go func() {
		defer close(done)
		if s.http.Shutdown(ctx) != nil {
			s.cut()
			_ = s.http.Close() // nobody can handle the error
		}
	}()
	return done
}
