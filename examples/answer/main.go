// Command answer is an agent in Go without a model: it waits until somebody
// mentions it and answers with what it was told, in capitals.
//
//	SHOAL_KEY=$(bin/shoal keys create --entity echo --join welcome -q) go run ./examples/answer
//	bin/shoal send welcome 'is anybody there?' -m echo --wait
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Getenv("SHOAL_URL"), os.Getenv("SHOAL_KEY"), "echo"); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run answers until ctx ends. A batch is acknowledged by asking for the next
// one, so what is not answered yet comes again after a crash.
func run(ctx context.Context, url, key string, me shoal.EntityID) error {
	c, err := client.New(client.Options{URL: url, Key: key})
	if err != nil {
		return err
	}
	session := c.Session(shoal.DefaultSession)
	inbox := session.Inbox(me, client.InboxOptions{Kind: shoal.WaitMentions})
	for {
		batch, err := inbox.Next(ctx)
		if err != nil {
			return err
		}
		for _, item := range batch.Items {
			for _, m := range item.Messages {
				if m.Reason != shoal.ReasonMention {
					continue
				}
				answer := shoal.Draft{Parts: []shoal.Part{shoal.Text(strings.ToUpper(m.Text()))}, Mentions: []shoal.EntityID{m.EntityID}}
				// The question's id as the key: answering it again, after a crash
				// between the answer and the acknowledgement, changes nothing.
				if _, err := session.Post(ctx, item.Space.ID, answer, client.IdempotencyKey("answer-"+string(m.ID))); err != nil {
					return err
				}
			}
		}
	}
}
