package audits

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Refusals are counted in memory and stored every storeEvery, equal ones as one record with their
// number, because a caller that is refused can call as often as it likes. At most maxRefusals different ones
// are counted at a time, of one caller maxOfCaller. Of the records, maxCredit can be stored at once and
// creditPerHour each hour; the refusals beyond that are one record, with their number.
// The end of the server waits for the last ones for at most flushWithin.
const (
	storeEvery    = 10 * time.Second
	maxRefusals   = 1000
	maxOfCaller   = 20
	maxCredit     = 500
	creditPerHour = 500
	flushWithin   = 2 * time.Second
)

// refusal identifies refusals that are equal.
type refusal struct {
	caller  shoal.Principal
	address string
	call    string
	code    shoal.Kind
}

// by returns the refusal without what distinguishes those of one caller.
func (r refusal) by() refusal { return refusal{caller: r.caller, address: r.address} }

// Refuse counts a call that was refused with err, if that was because of who made it: without a key
// that works, or without the right. call names the operation, such as "POST /v1/keys". It does not block.
// What the caller may not see is answered as if it did not exist, and is not recorded.
func (a *Audits) Refuse(ctx context.Context, caller shoal.Principal, call string, err error) {
	code := shoal.KindOf(err)
	if a.core.Audit.Off || code != shoal.Forbidden && code != shoal.Unauthenticated && code != shoal.IdentityMismatch {
		return
	}
	r := refusal{caller: caller, address: audit.OriginOf(ctx).Address, call: call, code: code}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refusals[r] == 0 && (len(a.refusals) >= maxRefusals || a.countOf(r.by()) >= maxOfCaller) {
		a.others++
		return
	}
	a.refusals[r]++
}

// countOf returns how many different refusals of a caller are counted. a.mu must be held.
func (a *Audits) countOf(caller refusal) (n int) {
	for r := range a.refusals {
		if r.by() == caller {
			n++
		}
	}
	return n
}

// Start begins to store refusals. The hub stops it.
func (a *Audits) Start() {
	a.core.Go(func(ctx context.Context) { a.core.Repeat(ctx, storeEvery, "audit log of refusals", a.storeRefusals) })
}

// Flush stores the refusals that are counted now.
func (a *Audits) Flush() {
	ctx, cancel := context.WithTimeout(context.Background(), flushWithin)
	defer cancel()
	if err := a.storeRefusals(ctx); err != nil {
		a.core.Log.Error("the last refused calls could not be recorded in the audit log", "error", err)
	}
}

// storeRefusals stores the refusals that were counted since the last time. A caller is recorded in its
// session, an unknown one in the chain of the server.
func (a *Audits) storeRefusals(ctx context.Context) error {
	bySession, others := a.takeRefusals()
	if others > 0 {
		bySession[""] = append(bySession[""], audit.Record{
			Act: audit.CallRefuse, Decision: audit.Refused, Role: audit.RoleServer, Target: audit.Target{Kind: "call", ID: "others"}, Count: others,
		})
	}
	var failed error
	for session, records := range bySession {
		at := storage.NoSession
		if session != "" {
			at = storage.In(session)
		}
		err := a.core.Change(ctx, "hub.Audits.storeRefusals", at, func(ch *core.Change) error {
			for _, r := range records {
				if err := ch.AppendRecord(session, r); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			a.addOthers(records)
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// addOthers counts refusals whose records could not be stored.
func (a *Audits) addOthers(records []audit.Record) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range records {
		a.others += r.Count
	}
}

// takeRefusals returns the counted refusals as records by session, as many as may be stored, and the
// number of the others, and forgets them.
func (a *Audits) takeRefusals() (bySession map[shoal.SessionID][]audit.Record, others int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.credit = min(maxCredit, a.credit+now.Sub(a.earnedAt).Hours()*creditPerHour)
	a.earnedAt = now
	bySession, others = map[shoal.SessionID][]audit.Record{}, a.others
	for r, n := range a.refusals {
		if a.credit < 1 {
			others += n
			continue
		}
		a.credit--
		out := audit.Record{Act: audit.CallRefuse, Decision: audit.Refused, Target: audit.Target{Kind: "call", ID: r.call}, Details: map[string]string{"code": string(r.code)}, Address: r.address, Count: n}
		out.By(r.caller)
		if r.caller.KeyID == "" {
			out.Role = audit.RoleNobody
		}
		bySession[r.caller.SessionID] = append(bySession[r.caller.SessionID], out)
	}
	a.refusals, a.others = map[refusal]int64{}, 0
	return bySession, others
}
