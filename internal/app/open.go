package app

import (
	"context"
	"fmt"

	"github.com/shoal-dev/shoal/internal/calendar"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/sqlstore"
	"github.com/shoal-dev/shoal/internal/tool"
)

// open creates the store, the hub and the guard, and the initial entities and spaces.
func (s *Server) open(ctx context.Context) (err error) {
	alone := s.config.busKind() == busMemory
	s.store, err = sqlstore.Open(ctx, sqlstore.Options{URL: s.config.Database, Log: s.config.Log, Fatal: s.fail, Metrics: s.metrics, Alone: alone, Cluster: !alone})
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	keep, err := s.config.keep()
	if err != nil {
		return err
	}
	bus, err := s.openBus()
	if err != nil {
		return err
	}
	audit, err := s.openAuditLog()
	if err != nil {
		return err
	}
	s.Hub = hub.New(hub.Options{
		Audit: audit,
		Keep:  keep,
		Store: s.store, Bus: bus, Log: s.config.Log, MaxWaits: s.config.MaxWaits, MaxSpacesEach: s.config.MaxSpacesEach, MaxBytesEach: int64(s.config.MaxFileMiBEach) << 20, Metrics: s.metrics,
		NextTime: calendar.NextTime, FitsSchema: tool.CheckValue,
	})
	s.limits.Watch(s.Hub.Inbox.Waits(), s.store.Queued())
	if err := s.Hub.Start(ctx); err != nil {
		return err
	}
	if err := s.connectBus(ctx); err != nil {
		return err
	}
	if s.network, err = tool.NewNetwork(tool.NetworkOptions{Private: s.config.private}); err != nil {
		return err
	}
	if err := s.protect(); err != nil {
		return err
	}
	if err := s.openProvider(ctx); err != nil {
		return err
	}
	return s.first(ctx)
}
