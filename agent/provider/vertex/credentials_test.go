package vertex_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/google"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
	"github.com/shoal-dev/shoal/agent/provider/vertex"
)

const issued = `{"access_token":"ya29.issued","expires_in":3599,"token_type":"Bearer"}`

func serviceAccount(t *testing.T, key *rsa.PrivateKey, tokenURI string) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "robot@shop.iam.gserviceaccount.com", "private_key_id": "k1", "token_uri": tokenURI,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// The key of a service account signs what is exchanged for a token.
func TestServiceAccount(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	v := wiretest.NewVendor(t, wiretest.Refuses(200, issued))
	source, err := vertex.Credentials(serviceAccount(t, key, v.URL+"/token"), wiretest.NewClient(t))
	if err != nil {
		t.Fatal(err)
	}
	got, err := source.Token(t.Context())
	if left := time.Until(got.Expires); err != nil || got.Value != "ya29.issued" || left < 3590*time.Second {
		t.Errorf("token %+v, %v", got, err)
	}
	form, err := url.ParseQuery(v.Bodies[0])
	if err != nil || form.Get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || v.Requests[0].URL.Path != "/token" {
		t.Fatalf("request %s %s", v.Requests[0].URL, v.Bodies[0])
	}
	parts := strings.Split(form.Get("assertion"), ".")
	var raw [3][]byte
	for i, p := range parts {
		if raw[i], err = base64.RawURLEncoding.DecodeString(p); err != nil {
			t.Fatal(err)
		}
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, sum[:], raw[2]); err != nil {
		t.Error(err)
	}
	var head struct{ Alg, Kid string }
	var claims struct {
		Iss, Scope, Aud string
		Iat, Exp        int64
	}
	decode(t, raw[0], &head)
	decode(t, raw[1], &claims)
	if head.Alg != "RS256" || head.Kid != "k1" || claims.Iss != "robot@shop.iam.gserviceaccount.com" || claims.Scope != vertex.Scope || claims.Aud != v.URL+"/token" || claims.Exp-claims.Iat != 3600 {
		t.Errorf("%+v %+v", head, claims)
	}
}

func TestUserCredentials(t *testing.T) {
	v := wiretest.NewVendor(t, wiretest.Refuses(200, issued))
	source, err := vertex.Credentials([]byte(`{"type":"authorized_user","client_id":"gcloud","client_secret":"s","refresh_token":"1//r","token_uri":"`+v.URL+`"}`), wiretest.NewClient(t))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := source.Token(t.Context()); err != nil || got.Value != "ya29.issued" || v.Bodies[0] != "client_id=gcloud&client_secret=s&grant_type=refresh_token&refresh_token=1%2F%2Fr" {
		t.Errorf("token %+v, %v for %s", got, err, v.Bodies[0])
	}
}

func TestMetadata(t *testing.T) {
	v := wiretest.NewVendor(t, wiretest.Refuses(200, issued))
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(v.URL, "http://"))
	got, err := vertex.Metadata(wiretest.NewClient(t)).Token(t.Context())
	if err != nil || got.Value != "ya29.issued" {
		t.Fatalf("token %+v, %v", got, err)
	}
	if r := v.Requests[0]; r.URL.Path != "/computeMetadata/v1/instance/service-accounts/default/token" || r.URL.Query().Get("scopes") != vertex.Scope || r.Header.Get("Metadata-Flavor") != "Google" {
		t.Errorf("request %s %v", r.URL, r.Header)
	}
}

func TestInvalidCredentials(t *testing.T) {
	for file, want := range map[string]string{
		`secret`: "are not a JSON file",
		`{"type":"external_account","private_key":"secret"}`:                                     "credentials.type",
		`{"type":"service_account","client_email":"e","private_key":"secret"}`:                   "an RSA key",
		`{"type":"authorized_user","refresh_token":"secret","token_uri":"secret"}`:               "token_uri",
		`{"type":"service_account","client_email":"","private_key":"-----BEGIN X-----\nsecret"}`: "client_email",
	} {
		if _, err := vertex.Credentials([]byte(file), nil); agent.KindOf(err) != agent.ErrInvalidArgument || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}

// Gemini on Vertex AI with the credentials of gcloud. A server on this machine plays Google Cloud.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			write(w, issued)
			return
		}
		fmt.Println(r.URL.Path, r.Header.Get("Authorization"))
		write(w, gemini)
	}))
	defer server.Close()
	file := `{"type":"authorized_user","client_id":"gcloud","client_secret":"s","refresh_token":"r","token_uri":"` + server.URL + `/token"}`
	source, err := vertex.Credentials([]byte(file), server.Client())
	if err != nil {
		panic(err)
	}
	model := vertex.Gemini("gemini-2.5-flash", vertex.Options{
		Project: "shop", Location: "europe-west4", Token: source,
	}, google.Options{BaseURL: server.URL, HTTPClient: server.Client()}) // without BaseURL, that of the location
	a, err := agent.New(model, agent.Options{Instructions: "Answer in one sentence."})
	if err != nil {
		panic(err)
	}
	answer, err := a.Ask(context.Background(), "Hello?")
	fmt.Println(answer, err)
	// Output:
	// /v1/projects/shop/locations/europe-west4/publishers/google/models/gemini-2.5-flash:streamGenerateContent Bearer ya29.issued
	// Hi <nil>
}
