package sqlstore

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/archivesql"
	"github.com/shoal-dev/shoal/internal/sqlstore/auditsql"
	"github.com/shoal-dev/shoal/internal/sqlstore/clustersql"
	"github.com/shoal-dev/shoal/internal/sqlstore/coresql"
	"github.com/shoal-dev/shoal/internal/sqlstore/erasesql"
	"github.com/shoal-dev/shoal/internal/sqlstore/keysql"
	"github.com/shoal-dev/shoal/internal/sqlstore/pushsql"
	"github.com/shoal-dev/shoal/internal/sqlstore/renderersql"
	"github.com/shoal-dev/shoal/internal/sqlstore/rowcache"
	"github.com/shoal-dev/shoal/internal/sqlstore/runsql"
	"github.com/shoal-dev/shoal/internal/sqlstore/searchsql"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

type (
	coreTx     = coresql.Tx
	keyTx      = keysql.Tx
	runTx      = runsql.Tx
	searchTx   = searchsql.Tx
	archiveTx  = archivesql.Tx
	auditTx    = auditsql.Tx
	clusterTx  = clustersql.Tx
	rendererTx = renderersql.Tx
	pushTx     = pushsql.Tx
	eraseTx    = erasesql.Tx
)

// tx is the current transaction of a connection. Its methods are those of the packages below,
// where each has the SQL of its nouns.
type tx struct {
	*coreTx
	*keyTx
	*runTx
	*searchTx
	*archiveTx
	*auditTx
	*clusterTx
	*rendererTx
	*pushTx
	*eraseTx
	c *sqlconn.Conn
}

var _ storage.Tx = (*tx)(nil)

// Now implements [hub.Tx].
func (t *tx) Now() (shoal.Time, error) { return t.c.Now() }

// connection is a connection with the tx for all of its transactions.
type connection struct {
	*sqlconn.Conn
	tx *tx
}

func newConnection(c *sqlconn.Conn, cache *rowcache.Cache) *connection {
	search := searchsql.New(c)
	core := coresql.New(c, cache, search)
	runs := runsql.New(c, core)
	return &connection{c, &tx{coreTx: core, keyTx: keysql.New(c), runTx: runs, searchTx: search, archiveTx: archivesql.New(c, core, search), auditTx: auditsql.New(c), clusterTx: clustersql.New(c), rendererTx: renderersql.New(c), pushTx: pushsql.New(c), eraseTx: erasesql.New(c, core, runs, search), c: c}}
}

// newWriter returns the connection that changes the database.
func newWriter(d *sqlconn.Dialect, alone bool) *connection {
	cache := rowcache.New()
	return newConnection(sqlconn.NewWriter(d, cache, alone), cache)
}

// newSibling returns another connection that changes the database of c.
func newSibling(c *connection) *connection {
	cache := rowcache.New()
	return newConnection(c.Sibling(cache), cache)
}

// newReader returns a connection that changes nothing in the database of c.
func newReader(c *connection) *connection { return newConnection(c.Reader(), nil) }

// run calls fn in the current transaction. After a failure of the database it returns that
// failure, whatever fn returns.
func (c *connection) run(fn func(storage.Tx) error) error { return c.Result(fn(c.tx)) }
