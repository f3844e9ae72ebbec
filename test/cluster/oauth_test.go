package cluster

import (
	"net/http"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/shoaltest/oauthtest"
)

// An OAuth client that registers, is consented to, gets, renews and revokes its tokens at different
// servers has what it would have at one, and so does a thief who chooses the server.
func oauthCrossesServers(t *testing.T, c *cluster) {
	a, b := c.nodes[0].URL(), c.nodes[1].URL()
	olga := oauthtest.SignIn(t, a, *c.newKey(t, "olga", shoal.Human).Secret)
	program := oauthtest.Register(t, b, "Courier")
	code := func(changes ...any) string {
		t.Helper()
		query := program.Query(a)
		led := oauthtest.Do(t, http.MethodGet, a+"/oauth/authorize?"+query, "")
		if led.Status != http.StatusSeeOther {
			t.Fatalf("the browser is led to %d %s", led.Status, led.Text)
		}
		return oauthtest.Back(t, olga.Consent(query, append([]any{"agent", "courier", "spaces", []string{}}, changes...)...)).Get("code")
	}
	refused := func(what string, got oauthtest.Reply) {
		t.Helper()
		if got.Status != http.StatusBadRequest || got.Value("error") != "invalid_grant" {
			t.Errorf("%s: %d %s", what, got.Status, got.Text)
		}
	}
	ends := func(what string, tokens oauthtest.Reply) {
		t.Helper()
		for _, at := range []string{a, b} {
			until(t, what+" ends at "+at, revokeLimit, func() bool { return !oauthtest.Works(t, at, tokens) })
		}
	}

	first := program.Redeem(b, code("name", "Courier"))
	if first.Status != http.StatusOK || !oauthtest.Works(t, a, first) || !oauthtest.Works(t, b, first) {
		t.Fatalf("a code of a, exchanged at b: %d %s", first.Status, first.Text)
	}
	second := program.Refresh(a, first)
	if second.Status != http.StatusOK || !oauthtest.Works(t, a, second) || !oauthtest.Works(t, b, second) {
		t.Fatalf("renewed at a: %d %s", second.Status, second.Text)
	}
	ends("a token that was renewed", first)
	program.Revoke(b, second.Value("access_token"))
	ends("a token that was revoked at b", second)
	refused("its refresh token at a", program.Refresh(a, second))

	for _, thief := range []string{a, b} {
		stolen := code()
		tokens := program.Redeem(b, stolen)
		refused("a code that was used at b", program.Redeem(thief, stolen))
		ends("the token of a code that came twice", tokens)
		tokens = program.Redeem(a, code())
		renewed := program.Refresh(b, tokens)
		refused("a refresh token that was used at b", program.Refresh(thief, tokens))
		ends("the token of a refresh token that came twice", renewed)
	}

	// At the same moment: one of them at most gets a token, which is worth nothing after the other.
	raced := code()
	var both [2]oauthtest.Reply
	var wg sync.WaitGroup
	for i, at := range []string{a, b} {
		wg.Go(func() { both[i] = program.Redeem(at, raced) })
	}
	wg.Wait()
	given := 0
	for _, got := range both {
		if got.Status == http.StatusOK {
			given++
			ends("the token of a code that came twice at once", got)
		}
	}
	if given != 1 {
		t.Errorf("%d servers give tokens for one code: %v", given, both)
	}
}
