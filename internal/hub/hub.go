package hub

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/access"
	"github.com/shoal-dev/shoal/internal/hub/agents"
	"github.com/shoal-dev/shoal/internal/hub/archive"
	"github.com/shoal-dev/shoal/internal/hub/audits"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/erasure"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/nodes"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/push"
	"github.com/shoal-dev/shoal/internal/hub/retention"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/spaces"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// Options configure a hub. Store and Bus are required and remain the caller's: the hub
// does not close them.
type Options struct {
	Store storage.Store
	Bus   core.Bus
	// Log receives messages for the operator; nil discards them.
	Log *slog.Logger
	// MaxWaits limits the open waits of this server; zero means 20,000. Further waits
	// fail with TooManyWaiters.
	MaxWaits int
	// KeepEvents is how many events of a space are kept for followers that resume; zero
	// means 10,000. A follower whose position is older gets a new snapshot.
	KeepEvents int
	// Keep is how long things are kept at most, whatever a session says.
	Keep shoal.Retention
	// MaxSpacesEach limits how many spaces an entity may create in its session; zero
	// means 1,000. MaxBytesEach limits how many bytes of files it may store there; zero
	// means 1 GiB.
	MaxSpacesEach int
	MaxBytesEach  int64
	// Metrics receives the metrics of the hub; nil is allowed.
	Metrics *metrics.Set
	// FitsSchema returns an error if value does not match a JSON Schema; the error calls
	// the value by name. Without it, answers are not checked against schemas.
	FitsSchema pending.FitsSchema
	// NextTime computes the times of cron expressions; without it, plans with a cron
	// expression are rejected.
	NextTime core.NextTime
	// Audit configures the audit log.
	Audit core.AuditOptions
}

// Hub is the conversation. Its fields group the methods by resource. It is safe for
// concurrent use.
type Hub struct {
	Sessions  *access.Sessions
	Entities  *access.Entities
	Erasures  *erasure.Erasures
	Retention *retention.Retention
	Spaces    *spaces.Spaces
	Messages  *spaces.Messages
	Inbox     *inbox.Inbox
	Events    *feed.Events
	Keys      *access.Keys
	Invites   *access.Invites
	Grants    *access.Grants
	Runners   *access.Runners
	Agents    *agents.Agents
	Runs      *runs.Runs
	Pending   *pending.Pending
	Plans     *runs.Plans
	Files     *spaces.Files
	Usage     *spaces.Usage
	Renderers *spaces.Renderers
	Archive   *archive.Archive
	Nodes     *nodes.Nodes
	Audits    *audits.Audits
	Push      *push.Push
	// Work is only for the executor of runs.
	Work *runs.Work

	core *core.Core
}

// New returns a hub. Call Start before using it.
func New(o Options) *Hub {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxWaits == 0 {
		o.MaxWaits = 20_000
	}
	if o.KeepEvents == 0 {
		o.KeepEvents = 10_000
	}
	c := core.New(core.Options{
		Store: o.Store, Bus: o.Bus, Log: o.Log, Metrics: o.Metrics, KeepEvents: o.KeepEvents, NextTime: o.NextTime, Audit: o.Audit,
		MaxSpacesEach: cmp.Or(o.MaxSpacesEach, 1000), MaxBytesEach: cmp.Or(o.MaxBytesEach, 1<<30),
	})
	h := &Hub{core: c}
	h.Sessions = access.NewSessions(c, o.Keep)
	h.Entities = access.NewEntities(c)
	h.Erasures = erasure.New(c)
	h.Retention = retention.New(c, o.Keep)
	h.Spaces = spaces.NewSpaces(c)
	h.Inbox = inbox.NewInbox(c, o.MaxWaits, o.Metrics)
	c.Arrivals = h.Inbox
	h.Messages = spaces.NewMessages(c, h.Inbox)
	parts := live.New()
	h.Events = feed.NewEvents(c, parts)
	h.Keys = access.NewKeys(c)
	h.Invites = access.NewInvites(c)
	h.Grants = access.NewGrants(c)
	h.Runners = access.NewRunners(c)
	h.Agents = agents.NewAgents(c)
	h.Runs = runs.NewRuns(c)
	h.Pending = pending.NewPending(c, o.FitsSchema)
	h.Plans = runs.NewPlans(c)
	h.Files = spaces.NewFiles(c)
	h.Usage = spaces.NewUsage(c)
	h.Renderers = spaces.NewRenderers(c)
	h.Archive = archive.NewArchive(c)
	h.Nodes = nodes.NewNodes(c)
	h.Audits = audits.NewAudits(c)
	h.Push = push.New(c)
	h.Work = runs.NewWork(c, parts)
	return h
}

// Start creates the default session if it does not exist and starts the hub's background
// tasks. It returns once the hub is ready; ctx limits only the start itself.
func (h *Hub) Start(ctx context.Context) error {
	c := h.core
	err := c.Change(ctx, "hub.Start", storage.Global, func(ch *core.Change) error {
		_, err := ch.Session(shoal.DefaultSession)
		if !errors.Is(err, shoal.NotFound) {
			return err
		}
		return ch.InsertSession(shoal.Session{
			ID: shoal.DefaultSession, Name: string(shoal.DefaultSession), Status: shoal.SessionStatusOpen, Limits: shoal.DefaultLimits, CreatedAt: shoal.Now(),
		})
	})
	if err != nil {
		return err
	}
	c.Start()
	h.Keys.Start()
	h.Inbox.Start()
	h.Events.Start()
	h.Retention.Start()
	h.Pending.Start()
	h.Plans.Start()
	h.Spaces.Start()
	h.Erasures.Start()
	h.Messages.Start()
	h.Archive.Start()
	h.Audits.Start()
	return nil
}

// Stop ends every open wait as timed out and every follower with ErrStopping,
// and returns when those waits and everything that the hub started have ended. The store
// must stay open until Stop returns. Later waits fail with ErrStopping.
func (h *Hub) Stop() {
	h.core.Stop()
	h.Inbox.Flush()
	h.Audits.Flush()
}
