package wiretest

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/shoal-dev/shoal/agent"
)

// Overflows checks what a turn makes of the vendor's answer to a prompt that is too
// long: with older messages it sends a shorter request, once; with nothing that can
// be left out it does not send the same request again.
func Overflows(t *testing.T, model func(*Vendor) agent.Model, tooLong http.HandlerFunc, transcript string) {
	t.Helper()
	for _, earlier := range []int{0, 3} {
		t.Run(fmt.Sprintf("after %d turns", earlier), func(t *testing.T) {
			n := 0
			v := NewVendor(t, func(w http.ResponseWriter, r *http.Request) {
				n++
				if n == earlier+1 {
					tooLong(w, r)
					return
				}
				Plays(transcript)(w, r)
			})
			a, err := agent.New(model(v), agent.Options{})
			if err != nil {
				t.Fatal(err)
			}
			c := agent.NewConversation()
			for i := range earlier {
				if _, err := a.Run(t.Context(), c, agent.Say(fmt.Sprintf("turn %d", i))); err != nil {
					t.Fatal(err)
				}
			}
			r, err := a.Run(t.Context(), c, agent.Say("and now?"))
			if earlier == 0 {
				if failure := ModelError(t, err); failure.Class != agent.ClassContextOverflow || r.Reason != agent.ReasonContextOverflow || len(v.Bodies) != 1 {
					t.Errorf("%d requests, then %s, %v", len(v.Bodies), r.Reason, err)
				}
				return
			}
			last := len(v.Bodies) - 1
			if err != nil || last != earlier+1 || len(v.Bodies[last]) >= len(v.Bodies[last-1]) {
				t.Errorf("%d requests, the last one\n%s\nafter\n%s\n%v", len(v.Bodies), v.Bodies[last], v.Bodies[last-1], err)
			}
		})
	}
}
