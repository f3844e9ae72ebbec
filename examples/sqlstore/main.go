// Command sqlstore keeps the conversations of an agent in a SQL database, as a service does:
// it adds a turn to a conversation, lists the conversations, and deletes those that nobody
// has used for a month.
//
//	go run ./examples/sqlstore alice "How do I reset my password?"
//
// The database is the SQLite file that the environment variable DATABASE names, by default
// chats.db; a service with several processes uses PostgreSQL. A script plays the model.
package main

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/agent/sqlstore"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, `usage: sqlstore CONVERSATION "TEXT"`)
		os.Exit(2)
	}
	file := cmp.Or(os.Getenv("DATABASE"), "chats.db")
	if err := run(context.Background(), file, os.Args[1], os.Args[2], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, file, conversation, text string, out io.Writer) error {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()                     // every write is durable when it returns
	store, err := sqlstore.Open(ctx, db, sqlstore.SQLite) // creates the tables
	if err != nil {
		return err
	}
	model := script.Func(func(r *agent.Request) script.Answer {
		return script.Answer{Text: fmt.Sprintf("(scripted) I have read %d messages.", len(r.Messages))}
	})
	a, err := agent.New(model, agent.Options{Name: "support"})
	if err != nil {
		return err
	}
	result, err := a.Run(ctx, agent.OpenConversation(store, conversation), agent.Say(text))
	if err != nil {
		return err
	}
	fmt.Fprintln(out, result.Text())

	list, err := store.List(ctx, agent.Listed{}, 20)
	if err != nil {
		return err
	}
	for _, c := range list {
		fmt.Fprintf(out, "%s: %d messages\n", c.ID, c.Messages)
	}
	_, err = store.Expire(ctx, time.Now().AddDate(0, -1, 0), 100)
	return err
}
