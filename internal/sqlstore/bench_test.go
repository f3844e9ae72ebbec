package sqlstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// samples are texts of 45 words each, some of them frequent and most rare.
var samples = func() (texts [1024]string) {
	source := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(source, 1.1, 3, 30_000)
	for i := range texts {
		var b strings.Builder
		for range 45 {
			fmt.Fprintf(&b, "w%dx ", words.Uint64())
		}
		texts[i] = b.String()
	}
	return texts
}()

func samplePost(i int64) func(storage.Tx) error {
	return func(tx storage.Tx) error {
		return post(tx, shoal.NewID[shoal.MessageID](shoal.PrefixMessage), samples[i%int64(len(samples))])
	}
}

// BenchmarkPost measures what the hub does for one message into a space of two,
// by one sender and by 64 at once.
func BenchmarkPost(b *testing.B) {
	for name, newURL := range map[string]func(testing.TB) string{"sqlite": newSQLite, "postgres": postgrestest.Database} {
		b.Run(name+"/serial", func(b *testing.B) {
			s := open(b, newURL(b))
			settle(b, s)
			b.ReportAllocs()
			used := cpuTime(b)
			b.ResetTimer()
			for i := range b.N {
				update(b, s, samplePost(int64(i)))
			}
			report(b, used)
		})
		b.Run(name+"/senders=64", func(b *testing.B) {
			s := open(b, newURL(b))
			settle(b, s)
			b.ReportAllocs()
			b.SetParallelism(32)
			var next atomic.Int64
			used := cpuTime(b)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := s.Update(context.Background(), storage.Global, samplePost(next.Add(1))); err != nil {
						b.Error(err)
						return
					}
				}
			})
			report(b, used)
		})
	}
}

// BenchmarkIndex measures the cost of one message in an update of the search index.
func BenchmarkIndex(b *testing.B) {
	s := open(b, newSQLite(b))
	fill(b, s, b.N)
	b.ResetTimer()
	if err := s.CatchUp(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkPage measures a page of 50 of a long timeline.
func BenchmarkPage(b *testing.B) {
	const length = 1_000_000
	s := open(b, newSQLite(b))
	fill(b, s, length)
	if err := s.CatchUp(); err != nil {
		b.Fatal(err)
	}
	for name, page := range map[string]func() storage.Page{
		"newest": func() storage.Page { return storage.Page{Limit: 50} },
		"oldest": func() storage.Page { return storage.Page{After: 1, Limit: 50} },
		"random": func() storage.Page { return storage.Page{Before: 51 + rand.Int64N(length-51), Limit: 50} },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				err := s.View(context.Background(), func(tx storage.Tx) error {
					found, err := tx.Messages("default", "shop", page())
					if err == nil && len(found) != 50 {
						err = fmt.Errorf("%d messages", len(found))
					}
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for name, words := range map[string]string{"frequent": "w0x", "rare": "w1000x", "two": "w3x w100x", "beginning": "w12"} {
		b.Run("search/"+name, func(b *testing.B) {
			for b.Loop() {
				err := s.View(context.Background(), func(tx storage.Tx) error {
					_, err := tx.Search("default", storage.SearchQuery{Query: storecase.Query(words), Limit: 20})
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("open", func(b *testing.B) {
		url := "sqlite://" + s.File()
		for b.Loop() {
			again, err := sqlstore.Open(context.Background(), sqlstore.Options{URL: url})
			if err != nil {
				b.Fatal(err)
			}
			if err := again.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// fill stores n messages in the space shop.
func fill(b *testing.B, s storage.Store, n int) {
	b.Helper()
	settle(b, s)
	for seq := int64(1); seq <= int64(n); {
		update(b, s, func(tx storage.Tx) error {
			at := shoal.Now()
			for first := seq; seq < first+1000 && seq <= int64(n); seq++ {
				m := shoal.Message{
					ID: shoal.NewID[shoal.MessageID](shoal.PrefixMessage), SessionID: "default", SpaceID: "shop", Seq: seq, EntityID: "ann",
					Status: shoal.MessageCompleted, Mentions: []shoal.EntityID{"bob"}, CreatedAt: at, UpdatedAt: at,
					Parts: []shoal.Part{{ID: "prt_1", Type: shoal.TextPart, Text: samples[seq%int64(len(samples))], Status: shoal.PartDone}},
				}
				if err := tx.InsertMessage(m, storage.PostKey{}); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// cpuTime returns the CPU time of the process. It varies less than the wall clock when other
// programs use the machine.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

func report(b *testing.B, before time.Duration) {
	b.Helper()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "posts/s")
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}
