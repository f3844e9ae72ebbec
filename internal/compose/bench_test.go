package compose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/compose"
)

// BenchmarkReader reads arguments of two lengths in pieces of 4 bytes. Compare the two costs
// per delta.
func BenchmarkReader(b *testing.B) {
	for _, kind := range []struct{ name, text string }{
		{"ascii", "Here are two laptops that fit. "},
		{"escapes", `A \"line\"\nof 😀 \u00e9\ud83d\ude00 x `},
	} {
		for _, size := range []int{10_000, 100_000} {
			arguments := `{"spaceId":"shop","text":"` + strings.Repeat(kind.text, size/len(kind.text)) + `"}`
			b.Run(fmt.Sprintf("%s/%dKB", kind.name, size/1000), func(b *testing.B) {
				b.ReportAllocs()
				deltas := 0
				for b.Loop() {
					r := compose.NewReader(false, compose.Field{Name: "spaceId"}, compose.Field{Name: "text", Stream: true})
					for i := 0; i < len(arguments); i += 4 {
						r.Feed(arguments[i:min(i+4, len(arguments))])
						deltas++
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(deltas), "ns/delta")
				b.ReportMetric(float64(deltas)/b.Elapsed().Seconds()/1e6, "Mdeltas/s")
			})
		}
	}
}

// BenchmarkComposer composes texts of two lengths from deltas of 4 bytes.
func BenchmarkComposer(b *testing.B) {
	for _, size := range []int{10_000, 100_000} {
		arguments := `{"spaceId":"shop","text":"` + strings.Repeat("Here are two laptops that fit. ", size/31) + `"}`
		b.Run(fmt.Sprintf("%dKB", size/1000), func(b *testing.B) {
			b.ReportAllocs()
			deltas := 0
			for b.Loop() {
				c := compose.New(compose.Options{Run: "r", Tools: testTools()})
				c.Apply(agent.ToolCallStarted{MessageID: "m", CallID: "c", Name: "send"})
				for i := 0; i < len(arguments); i += 4 {
					effects := c.Apply(agent.ToolArgsDelta{CallID: "c", Text: arguments[i:min(i+4, len(arguments))]})
					if count[compose.AskSpace](effects) > 0 {
						c.SetMembership("shop", "", compose.Member)
					}
					deltas++
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(deltas), "ns/delta")
		})
	}
}
