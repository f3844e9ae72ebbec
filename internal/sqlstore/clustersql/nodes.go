// Package clustersql is the SQL of the servers that run on a database.
package clustersql

import (
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Tx reads and changes these servers in the current transaction of a connection.
type Tx struct{ c *sqlconn.Conn }

// New returns the Tx of a connection.
func New(c *sqlconn.Conn) *Tx { return &Tx{c} }

const nodeColumns = `id, name, version, bus, started_at, seen_at`

func nodeOf(r *sqlconn.Rows) shoal.Node {
	return shoal.Node{ID: shoal.NodeID(r.Text(0)), Name: r.Text(1), Version: r.Text(2), Bus: r.Text(3), StartedAt: r.Time(4), SeenAt: r.Time(5)}
}

// SaveNode implements [storage.NodeTx].
func (t *Tx) SaveNode(n shoal.Node, age time.Duration) error {
	now, err := t.c.Now()
	if err != nil {
		return err
	}
	_, err = t.c.Exec(`INSERT INTO nodes (`+nodeColumns+`) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (id) DO UPDATE SET bus = excluded.bus, seen_at = excluded.seen_at`, n.ID, n.Name, n.Version, n.Bus, n.StartedAt, now)
	if err == nil {
		_, err = t.c.Exec(`DELETE FROM nodes WHERE seen_at < $1`, shoal.At(now.Add(-10*age)))
	}
	return err
}

// DeleteNode implements [storage.NodeTx].
func (t *Tx) DeleteNode(id shoal.NodeID) error {
	_, err := t.c.Exec(`DELETE FROM nodes WHERE id = $1`, id)
	return err
}

// Nodes implements [storage.NodeTx].
func (t *Tx) Nodes(age time.Duration) ([]shoal.Node, error) {
	now, err := t.c.Now()
	if err != nil {
		return nil, err
	}
	nodes, err := sqlconn.List(t.c, nodeOf, `SELECT `+nodeColumns+` FROM nodes WHERE seen_at >= $1 ORDER BY id LIMIT 1000`, shoal.At(now.Add(-age)))
	slices.SortStableFunc(nodes, func(a, b shoal.Node) int { return a.StartedAt.Compare(b.StartedAt.Time) })
	return nodes, err
}

// ClusterKey implements [storage.NodeTx].
func (t *Tx) ClusterKey(candidate string) (string, error) {
	if _, err := t.c.Exec(`UPDATE store SET cluster_key = $1 WHERE cluster_key = ''`, candidate); err != nil {
		return "", err
	}
	key, _, err := sqlconn.One(t.c, func(r *sqlconn.Rows) string { return r.Text(0) }, `SELECT cluster_key FROM store`)
	return key, err
}

// TakeDuty implements [storage.NodeTx].
func (t *Tx) TakeDuty(name string, lease time.Duration) (bool, error) {
	now, err := t.c.Now()
	if err != nil {
		return false, err
	}
	n, err := t.c.Exec(`INSERT INTO duties (name, done_until) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET done_until = excluded.done_until WHERE duties.done_until <= $3`, name, shoal.At(now.Add(lease)), now)
	return n > 0, err
}
