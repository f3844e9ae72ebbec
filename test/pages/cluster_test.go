package pages

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
)

// Three servers that are reached through Caddy, configured as docs/cluster.md says, are one for
// their callers: an agent gets each mention once, whichever server answers, also while one of them
// stops.
func TestSeveralServersThroughCaddy(t *testing.T) {
	program := find(t, "caddy", "apt-get install caddy")
	database := postgrestest.Database(t)
	var upstreams []string
	var victim *app.Server
	var admin string
	for _, name := range []string{"n1", "n2", "n3"} {
		config := app.Config{
			Database: database, Node: name, AllowHosts: []string{publicName}, AllowOrigins: []string{"https://" + publicName}, TrustProxies: []string{"127.0.0.1/32"},
		}
		if name == "n1" {
			config.Data, config.Addr, config.Keys = t.TempDir(), "127.0.0.1:0", func(string) string { return "" }
			s, err := app.Start(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			victim = s
			upstreams = append(upstreams, "n1:7462", strings.TrimPrefix(s.URL(), "http://"))
			continue
		}
		s, key := apptest.Run(t, config)
		admin = key
		upstreams = append(upstreams, name+":7462", strings.TrimPrefix(s.URL(), "http://"))
	}
	stopped := false
	defer func() {
		if !stopped {
			victim.Stop()
		}
	}()
	site := newSite(t)
	startProgram(t, site.dir, program, caddy(t, site, programOf(t, "cluster.md", "Caddyfile"), upstreams...)...)
	public := site.client(t)
	waitUntilReady(t, public)
	as := func(id shoal.EntityID) *client.Session {
		c, err := client.New(client.Options{URL: "https://" + publicName, Key: admin, As: id, HTTP: public})
		if err != nil {
			t.Fatal(err)
		}
		return c.Session(shoal.DefaultSession)
	}
	operator, scout := as(shoal.Operator), as("scout")
	if _, err := operator.CreateEntity(t.Context(), shoal.NewEntity{ID: "scout"}); err != nil {
		t.Fatal(err)
	}
	if _, err := operator.AddMember(t.Context(), app.Welcome, "scout"); err != nil {
		t.Fatal(err)
	}
	quiet, ack := false, ""
	for n := range 40 {
		if n == 20 {
			victim.Stop()
			stopped = true
		}
		text := fmt.Sprint("message ", n)
		posted := make(chan error, 1)
		go func() {
			_, err := operator.Post(t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: []shoal.EntityID{"scout"}, TriggerAgents: &quiet})
			posted <- err
		}()
		got, err := scout.Wait(t.Context(), "scout", client.WaitRequest{Kind: shoal.WaitMentions, Timeout: 30 * time.Second, Ack: ack})
		if err != nil || got.TimedOut || len(got.Items) != 1 || len(got.Items[0].Messages) != 1 || got.Items[0].Messages[0].Parts[0].Text != text {
			t.Fatalf("the wait for %q returned %+v, %v", text, got, err)
		}
		if err := <-posted; err != nil {
			t.Fatalf("posting %q: %v", text, err)
		}
		ack = *got.Cursor
	}
}

// The compose file of docs/cluster.md starts each server that the Caddyfile names, with settings
// that exist, and all with the same ones but for their names.
func TestComposeFileOfTheClusterPage(t *testing.T) {
	var file struct {
		Services map[string]struct {
			Image       string            `yaml:"image"`
			Environment map[string]string `yaml:"environment"`
		} `yaml:"services"`
	}
	if err := yaml.Unmarshal([]byte(programOf(t, "cluster.md", "compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	settings := map[string]bool{}
	fields := reflect.TypeFor[app.Config]()
	for i := range fields.NumField() {
		tag := fields.Field(i).Tag
		name := tag.Get("name")
		if name == "" {
			name = snake(fields.Field(i).Name)
		}
		settings["SHOAL_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))] = tag.Get("help") != ""
	}
	caddyfile := programOf(t, "cluster.md", "Caddyfile")
	servers := 0
	for name, s := range file.Services {
		if !strings.HasPrefix(s.Image, "shoal:") {
			continue
		}
		servers++
		if !strings.Contains(caddyfile, name+":7462") || s.Environment["SHOAL_NODE"] != name {
			t.Errorf("the service %s is named %q, and the Caddyfile is\n%s", name, s.Environment["SHOAL_NODE"], caddyfile)
		}
		for variable := range s.Environment {
			if !settings[variable] {
				t.Errorf("%s: %s is not a setting", name, variable)
			}
		}
		config := app.Config{Data: t.TempDir(), Database: s.Environment["SHOAL_DATABASE"], Bus: s.Environment["SHOAL_BUS"], Node: name}
		if err := config.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if servers != 3 {
		t.Errorf("the file has %d servers, want 3", servers)
	}
}

// snake returns the words of a name in camel case, with dashes between them.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' && (name[i-1] < 'A' || name[i-1] > 'Z') {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}
