// Command watch prints the messages of a space and then each new one as it is
// posted. When the connection breaks, it resumes where it stopped.
//
//	SHOAL_KEY=… go run ./examples/watch welcome
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: watch SPACE")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Stdout, os.Getenv("SHOAL_URL"), os.Getenv("SHOAL_KEY"), shoal.SpaceID(os.Args[1]))
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, url, key string, space shoal.SpaceID) error {
	c, err := client.New(client.Options{URL: url, Key: key})
	if err != nil {
		return err
	}
	var seen int64
	show := func(messages ...shoal.Message) error {
		for _, m := range messages {
			if m.Seq <= seen { // a snapshot repeats messages that were already printed
				continue
			}
			seen = m.Seq
			if _, err := fmt.Fprintf(out, "%d %s: %q\n", m.Seq, m.EntityID, m.Text()); err != nil {
				return err
			}
		}
		return nil
	}
	for event, err := range c.Session(shoal.DefaultSession).Follow(ctx, client.FollowOptions{Space: space}) {
		if err != nil {
			return err
		}
		switch event.Type {
		case shoal.EventSnapshot:
			var snapshot shoal.SnapshotData
			if err := json.Unmarshal(event.Data, &snapshot); err != nil {
				return err
			}
			err = show(snapshot.Messages...)
		case shoal.EventMessageCreated:
			var created shoal.MessageData
			if err := json.Unmarshal(event.Data, &created); err != nil {
				return err
			}
			err = show(created.Message)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
