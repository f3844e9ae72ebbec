package client_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// An agent that answers every message that mentions it, and survives restarts.
func ExampleInbox() {
	ctx := context.Background()
	c, err := client.New(client.Options{URL: "http://127.0.0.1:7462", Key: os.Getenv("SHOAL_KEY")})
	if err != nil {
		log.Fatal(err)
	}
	session := c.Session(shoal.DefaultSession)
	inbox := session.Inbox("scout", client.InboxOptions{})
	for {
		batch, err := inbox.Next(ctx)
		if err != nil {
			log.Fatal(err)
		}
		for _, item := range batch.Items {
			for _, m := range item.Messages {
				answer := shoal.Draft{Parts: []shoal.Part{shoal.Text("I heard: " + m.Text())}, Mentions: []shoal.EntityID{m.EntityID}}
				// The key makes the answer one, also when the message comes again.
				if _, err := session.Post(ctx, item.Space.ID, answer, client.IdempotencyKey("answer-"+string(m.ID))); err != nil {
					log.Print(err)
				}
			}
		}
	}
}

// Everything that is said in the spaces of the caller, as it is said.
func ExampleSession_Follow() {
	ctx := context.Background()
	c, err := client.New(client.Options{URL: "http://127.0.0.1:7462", Key: os.Getenv("SHOAL_KEY")})
	if err != nil {
		log.Fatal(err)
	}
	for event, err := range c.Session(shoal.DefaultSession).Follow(ctx, client.FollowOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(event.Type, string(event.Data))
	}
}
