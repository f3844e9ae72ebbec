package peer

import (
	"database/sql"
	"net/url"
	"time"

	_ "modernc.org/sqlite" // the driver that Shoal uses
)

// ledger is a minimal durable log in SQLite: one writer stores all entries that arrived
// meanwhile in one commit with synchronous=FULL.
type ledger struct {
	db    *sql.DB
	queue chan entry
}

type entry struct {
	body []byte
	done chan error
}

// maxGroup is the maximum number of entries in a commit.
const maxGroup = 256

func openLedger(path string) (*ledger, error) {
	pragmas := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "busy_timeout(5000)"}}
	db, err := sql.Open("sqlite", "file:"+path+"?"+pragmas.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE IF NOT EXISTS message (
		seq INTEGER PRIMARY KEY, space TEXT NOT NULL, sender TEXT NOT NULL, at INTEGER NOT NULL, body BLOB NOT NULL)`); err != nil {
		return nil, err
	}
	insert, err := db.Prepare("INSERT INTO message (space, sender, at, body) VALUES ('space', 'agent', ?, ?)") //nolint:sqlclosecheck // it is used as long as the process lives
	if err != nil {
		return nil, err
	}
	l := &ledger{db: db, queue: make(chan entry, 1024)}
	go l.write(insert) // for the life of the process
	return l, nil
}

// append stores a body and returns when it is durable.
func (l *ledger) append(body []byte) error {
	e := entry{body, make(chan error, 1)}
	l.queue <- e
	return <-e.done
}

func (l *ledger) write(insert *sql.Stmt) {
	var group []entry
	for first := range l.queue {
		group = append(group[:0], first)
		for more := true; more && len(group) < maxGroup; {
			select {
			case e := <-l.queue:
				group = append(group, e)
			default:
				more = false
			}
		}
		err := l.commit(insert, group)
		for _, e := range group {
			e.done <- err
		}
	}
}

func (l *ledger) commit(insert *sql.Stmt, group []entry) error {
	if len(group) == 1 {
		_, err := insert.Exec(time.Now().UnixMicro(), group[0].body)
		return err
	}
	tx, err := l.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	inTx := tx.Stmt(insert) //nolint:sqlclosecheck // it ends with the transaction
	for _, e := range group {
		if _, err := inTx.Exec(time.Now().UnixMicro(), e.body); err != nil {
			return err
		}
	}
	return tx.Commit()
}
