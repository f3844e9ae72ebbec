// Command answer is an agent in Go without a model: it waits for messages that
// mention it and answers each with the same text in capitals.
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

// run answers mentions until ctx ends. Requesting the next batch acknowledges the
// previous one, so messages without an answer are delivered again after a crash.
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
				// The id of the question is part of the idempotency key: after a crash
				// between the answer and the acknowledgement, a second answer has no effect.
				if _, err := session.Post(ctx, item.Space.ID, answer, client.IdempotencyKey("answer-"+string(m.ID))); err != nil {
					return err
				}
			}
		}
	}
}
