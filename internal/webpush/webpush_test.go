package webpush

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/hub/storage"
)

func decode(t *testing.T, text string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func key(t *testing.T, text string) *ecdh.PrivateKey {
	t.Helper()
	k, err := ecdh.P256().NewPrivateKey(decode(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// browser is the one of RFC 8291, appendix A.
var browser = storage.PushTarget{
	P256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
	Auth:   "BTBZMqHH6r4Tts7J_aSIgg",
}

// The example of RFC 8291, appendix A, byte by byte.
func TestEncryptsAsTheExample(t *testing.T) {
	own := key(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")
	got, err := seal(browser, own, decode(t, "DGv6ra1nlYgDCS1FRnbzlw"), []byte("When I grow up, I want to be a watermelon"), nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	if text := base64.RawURLEncoding.EncodeToString(got); text != want {
		t.Errorf("got %s, want %s", text, want)
	}
}

// Texts of different names have one length, and none is longer than what every service accepts.
func TestLengthsSayNothing(t *testing.T) {
	lengths := map[int]bool{}
	for _, n := range []int{0, 1, 200, padTo - 1} {
		out, err := encrypt(browser, bytes.Repeat([]byte("a"), n))
		if err != nil {
			t.Fatal(err)
		}
		lengths[len(out)] = true
	}
	if len(lengths) != 1 {
		t.Errorf("the lengths are %v", lengths)
	}
	if out, err := encrypt(browser, bytes.Repeat([]byte("a"), maxText)); err != nil || len(out) != recordSize {
		t.Errorf("the longest text has %d bytes: %v", len(out), err)
	}
	if _, err := encrypt(browser, bytes.Repeat([]byte("a"), maxText+1)); err == nil {
		t.Error("a longer text was encrypted")
	}
}

// The proof names the origin of the endpoint, ends within a day, and is signed with the key that it
// names.
func TestProof(t *testing.T) {
	s, err := newSigner(key(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"), "https://chat.example")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_700_000_000, 0)
	for range 20 { // numbers of a signature may begin with zeros
		header, err := s.authorization(&url.URL{Scheme: "https", Host: "push.example:8443", Path: "/secret"}, now)
		if err != nil {
			t.Fatal(err)
		}
		token, public, _ := strings.Cut(strings.TrimPrefix(header, "vapid t="), ", k=")
		parts := strings.Split(token, ".")
		if len(parts) != 3 || public != "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8" {
			t.Fatalf("the header is %s", header)
		}
		var claims struct {
			Aud, Sub string
			Exp      int64
		}
		if err := json.Unmarshal(decode(t, parts[1]), &claims); err != nil {
			t.Fatal(err)
		}
		if claims.Aud != "https://push.example:8443" || claims.Sub != "https://chat.example" || claims.Exp != now.Unix()+12*3600 {
			t.Errorf("it claims %+v", claims)
		}
		point, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), decode(t, public))
		if err != nil {
			t.Fatal(err)
		}
		sum, signature := sha256.Sum256([]byte(parts[0]+"."+parts[1])), decode(t, parts[2])
		if len(signature) != 64 || !ecdsa.Verify(point, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
			t.Errorf("the signature of %s is wrong", header)
		}
	}
}
