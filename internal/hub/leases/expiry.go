// Package leases finds expired leases of runs without reading those that have not expired.
//
//	expired, err := expiry.Expired(tx, now, ttl)
//
// Guarantees:
//   - A lease is found once it has expired, also one that another server has given.
//   - The cost of a call does not depend on the number of leases, except for one call after
//     each expiry.
package leases

import (
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Tx has the reads that this package needs from a transaction.
type Tx interface {
	ExpiredRuns(at shoal.Time) ([]storage.Run, error)
	NextExpiry() (*shoal.Time, error)
}

// Expiry is when the next lease may expire, as far as a server has read. It is safe for
// concurrent use; its zero value has read nothing.
type Expiry struct{ next atomic.Pointer[expiry] }

// expiry is a time before which no lease expires. held reports whether there is a lease that
// expires then.
type expiry struct {
	at   shoal.Time
	held bool
}

// Expired returns the runs with expired leases. It does not read them before the time that it
// read last: leases that are given or renewed since expire later, as all servers give them for
// ttl.
func (e *Expiry) Expired(tx Tx, now shoal.Time, ttl time.Duration) ([]storage.Run, error) {
	if next := e.next.Load(); next != nil && next.at.After(now.Time) && next.at.Sub(now.Time) <= ttl {
		return nil, nil
	}
	next, err := tx.NextExpiry()
	if err != nil {
		return nil, err
	}
	if next == nil {
		e.next.Store(&expiry{at: shoal.At(now.Add(ttl))})
		return nil, nil
	}
	e.next.Store(&expiry{*next, true})
	if next.After(now.Time) {
		return nil, nil
	}
	return tx.ExpiredRuns(now)
}

// Next returns a time before which no lease expires, nil if no run is leased.
func (e *Expiry) Next(tx Tx, now shoal.Time) (*shoal.Time, error) {
	if next := e.next.Load(); next != nil && next.held && next.at.After(now.Time) {
		return &next.at, nil
	}
	return tx.NextExpiry()
}
