package app_test

import (
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/app"
)

// Settings for the sign-in of people that cannot work are refused before the start, with what to do.
func TestSettingsForPeople(t *testing.T) {
	good := app.Config{Data: t.TempDir(), OIDCIssuer: "https://id.example", OIDCClientID: "shoal", OIDCDomains: []string{"example.com"}}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for words, change := range map[string]func(*app.Config){
		"--oidc-issuer is missing":          func(c *app.Config) { c.OIDCIssuer = "" },
		"--oidc-client-id is missing":       func(c *app.Config) { c.OIDCClientID = "" },
		"Who may sign in?":                  func(c *app.Config) { c.OIDCDomains = nil },
		"http://id.example is not":          func(c *app.Config) { c.OIDCIssuer = "http://id.example" },
		"id.example is not an https":        func(c *app.Config) { c.OIDCIssuer = "id.example" },
		"contradict each other":             func(c *app.Config) { c.Auth = "off" },
		"--oidc-role admins is not":         func(c *app.Config) { c.OIDCRoles = []string{"admins"} },
		"--oidc-role admins=king is not":    func(c *app.Config) { c.OIDCRoles = []string{"admins=king"} },
		"--oidc-role =owner is not":         func(c *app.Config) { c.OIDCRoles = []string{"=owner"} },
		"--oidc-space":                      func(c *app.Config) { c.OIDCSpaces = []string{"no id"} },
		"--oidc-session":                    func(c *app.Config) { c.OIDCSession = "no id" },
		"shoal.example is not an origin":    func(c *app.Config) { c.PublicURL = "shoal.example" },
		"/console is not an origin":         func(c *app.Config) { c.PublicURL = "https://shoal.example/console" },
		"ftp://shoal.example is not an ori": func(c *app.Config) { c.PublicURL = "ftp://shoal.example" },
	} {
		c := good
		change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q is missing in %v", words, err)
		}
	}
	tokens := good
	tokens.OIDCIssuer, tokens.OIDCClientID, tokens.JWTIssuer, tokens.JWTAudience = "", "", "https://id.example", "https://shoal.example"
	if err := tokens.Check(); err != nil {
		t.Error(err)
	}
	for words, change := range map[string]func(*app.Config){
		"--jwt-issuer is missing":      func(c *app.Config) { c.JWTIssuer = "" },
		"--jwt-audience is missing":    func(c *app.Config) { c.JWTAudience = "" },
		"http://id.example is not":     func(c *app.Config) { c.JWTIssuer = "http://id.example" },
		"--auth off and --jwt-issuer":  func(c *app.Config) { c.Auth = "off" },
		"Who may sign in?":             func(c *app.Config) { c.OIDCDomains = nil },
		"--oidc-client-id are the sam": func(c *app.Config) { c.OIDCIssuer, c.OIDCClientID = c.JWTIssuer, c.JWTAudience },
	} {
		c := tokens
		change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q is missing in %v", words, err)
		}
	}
	for _, change := range []func(*app.Config){
		func(c *app.Config) { c.OIDCIssuer = "http://127.0.0.1:8080/realms/x" },
		func(c *app.Config) { c.OIDCDomains, c.OIDCGroups = nil, []string{"staff"} },
		func(c *app.Config) { c.OIDCRoles = []string{"cn=admins,dc=example=owner"} },
		func(c *app.Config) { c.PublicURL = "https://shoal.example/" },
	} {
		c := good
		change(&c)
		if err := c.Check(); err != nil {
			t.Error(err)
		}
	}
}
