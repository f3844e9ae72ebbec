package pages

import (
	"fmt"
	"net"
	"testing"
)

// proxy is a program that docs/deploy.md configures in file. arguments returns what it is started with
// for a site, in the page's configuration changed only in its ports, paths and certificate.
type proxy struct {
	name, program, install, file string
	arguments                    func(t *testing.T, s *site, config, upstream string) []string
}

var proxies = []proxy{
	{"nginx", "nginx", "apt-get install nginx-light", "shoal.conf", func(t *testing.T, s *site, config, upstream string) []string {
		config = replaced(t, config, "listen 443 ssl", "listen "+s.addr+" ssl", "127.0.0.1:7462", upstream,
			"/etc/ssl/shoal.example.pem", s.certFile, "/etc/ssl/shoal.example.key", s.keyFile)
		whole := fmt.Sprintf("daemon off; master_process off; pid %s/pid; error_log stderr;\nevents {}\nhttp {\naccess_log off; client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;\n%s\n}\n", s.dir, config)
		return []string{"-p", s.dir, "-c", write(t, s.dir, "nginx.conf", whole)}
	}},
	{"Caddy", "caddy", "apt-get install caddy", "Caddyfile", func(t *testing.T, s *site, config, upstream string) []string {
		return caddy(t, s, config, "127.0.0.1:7462", upstream)
	}},
}

// caddy returns the arguments with which Caddy serves a site with a configuration, with pairs of texts
// replaced in it.
func caddy(t *testing.T, s *site, config string, pairs ...string) []string {
	t.Helper()
	_, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		t.Fatal(err)
	}
	pairs = append([]string{"shoal.example {", "https://shoal.example:" + port + " {\n\tbind 127.0.0.1\n\ttls " + s.certFile + " " + s.keyFile}, pairs...)
	config = replaced(t, config, pairs...)
	return []string{"run", "--adapter", "caddyfile", "--config", write(t, s.dir, "Caddyfile", "{\n\tadmin off\n\tauto_https disable_redirects\n}\n"+config)}
}
