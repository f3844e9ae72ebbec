package storetest

import (
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

var nodeTests = map[string]func(*storecase.Case){
	"a server is alive until it is removed or was not seen for long": func(c *storecase.Case) {
		node := shoal.Node{ID: "nod_0102030405060708", Name: "one", Version: "1.2.3", StartedAt: shoal.Now()}
		save := func(n shoal.Node, age time.Duration) {
			c.Update(func(tx storage.Tx) error { return tx.SaveNode(n, age) })
		}
		alive := func(age time.Duration) []shoal.Node {
			return storecase.Read(c, func(tx storage.Tx) ([]shoal.Node, error) { return tx.Nodes(age) })
		}
		save(node, time.Hour)
		node.Bus = "it is not connected"
		save(node, time.Hour)
		got := alive(time.Hour)
		if len(got) != 1 {
			c.Fatalf("got %d servers, want one: %+v", len(got), got)
		}
		if got[0].SeenAt.Before(node.StartedAt.Add(-time.Minute)) {
			c.Errorf("the server was seen at %v", got[0].SeenAt)
		}
		node.SeenAt = got[0].SeenAt
		storecase.Equal(c, "the server", got[0], node)

		other := node
		other.ID, other.Name = "nod_1112131415161718", "two"
		save(other, time.Hour)
		if got := alive(time.Hour); len(got) != 2 || got[0].ID != node.ID {
			c.Errorf("got %+v, want both servers in the order of their start", got)
		}
		c.Update(func(tx storage.Tx) error { return tx.DeleteNode(node.ID) })
		c.Update(func(tx storage.Tx) error { return tx.DeleteNode(node.ID) })
		if got := alive(time.Hour); len(got) != 1 || got[0].ID != other.ID {
			c.Errorf("got %+v after one was removed, want the other", got)
		}
		if got := alive(-time.Hour); len(got) != 0 {
			c.Errorf("got %+v, none of which was seen in the future", got)
		}
		save(node, -time.Hour) // everything is too old
		if got := alive(time.Hour); len(got) != 0 {
			c.Errorf("got %+v, want that old servers are removed", got)
		}
	},

	"a duty is taken by one server until its lease ends": func(c *storecase.Case) {
		name := string(c.Session)
		for i, step := range []struct {
			lease time.Duration
			taken bool
		}{{time.Hour, true}, {time.Hour, false}} {
			got := storecase.Do(c, func(tx storage.Tx) (bool, error) { return tx.TakeDuty(name, step.lease) })
			storecase.Equal(c, fmt.Sprint("whether it is taken the time ", i), got, step.taken)
		}
		past := func() bool {
			return storecase.Do(c, func(tx storage.Tx) (bool, error) { return tx.TakeDuty(name+"x", -time.Second) })
		}
		storecase.Equal(c, "whether it is taken after each lease", []bool{past(), past()}, []bool{true, true})
	},

	"the secret of the cluster is that of the first server": func(c *storecase.Case) {
		var first, second string
		c.Update(func(tx storage.Tx) (err error) {
			first, err = tx.ClusterKey("a secret")
			return err
		})
		c.Update(func(tx storage.Tx) (err error) {
			second, err = tx.ClusterKey("another secret")
			return err
		})
		if first != "a secret" || second != first {
			c.Errorf("got %q and then %q", first, second)
		}
	},
}
