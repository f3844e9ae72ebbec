package core

import (
	"errors"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// PossiblyPresent returns the ids of the entities of a session that may not be offline,
// sorted: those that were active on this server, and all hosted agents. Hosted agents make
// no calls; they are always present, and run while one of their runs does, on whatever
// server that is.
func (p *Presence) PossiblyPresent(tx Tx, session shoal.SessionID) ([]shoal.EntityID, error) {
	out := p.presentEntities(session)
	for after := shoal.EntityID(""); ; {
		page, err := tx.HostedAgents(session, after, shoal.MaxPage)
		if err != nil {
			return nil, err
		}
		for _, a := range page {
			out, after = append(out, a.ID), a.ID
		}
		if len(page) < shoal.MaxPage {
			slices.Sort(out)
			return slices.Compact(out), nil
		}
	}
}

// FillRunState sets the state of each of es that has a run in progress to running, its
// StalledSince to that of the run that stalled first, and AtWork of remote agents. Call it before
// [Presence.FillLiveState], which keeps the state.
func FillRunState(tx Tx, session shoal.SessionID, es ...*shoal.Entity) error {
	es = slices.DeleteFunc(slices.Clone(es), func(e *shoal.Entity) bool { return !e.Hosted })
	if len(es) == 0 {
		return nil
	}
	filter := storage.RunFilter{Status: []shoal.RunStatus{shoal.RunRunning}}
	if len(es) == 1 {
		filter.Agent, filter.Limit = es[0].ID, shoal.MaxPage
	}
	runs, err := tx.Runs(session, filter)
	for _, e := range es {
		if slices.ContainsFunc(runs, func(r storage.Run) bool { return r.AgentID == e.ID }) {
			e.State = shoal.Running
		}
		for _, r := range runs {
			if r.AgentID == e.ID && r.StalledSince != nil && (e.StalledSince == nil || r.StalledSince.Before(e.StalledSince.Time)) {
				e.StalledSince = r.StalledSince
			}
		}
	}
	return errors.Join(err, fillAtWork(tx, session, es))
}

// fillAtWork sets AtWork of the remote agents among es.
func fillAtWork(tx Tx, session shoal.SessionID, es []*shoal.Entity) error {
	if !slices.ContainsFunc(es, func(e *shoal.Entity) bool { return e.Remote }) {
		return nil
	}
	now, err := tx.Now()
	for _, e := range es {
		if err != nil || !e.Remote {
			continue
		}
		var held int64
		held, err = tx.CountRemote(session, e.ID, now)
		e.AtWork = held > 0
	}
	return err
}

// MarkPresent records that an entity is present from now on although it makes no calls.
func (p *Presence) MarkPresent(s shoal.SessionID, e shoal.EntityID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.activityOf(s, e).publishedState = ""
	p.notifyArrivals(s)
}
