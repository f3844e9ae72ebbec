package tool_test

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/tool"
)

func addresses(texts ...string) (all []netip.Addr) {
	for _, text := range texts {
		all = append(all, netip.MustParseAddr(text))
	}
	return all
}

// get requests a URL through a network and returns the status and body, or the error.
func get(t *testing.T, n *tool.Network, url string, header http.Header) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	req.Header = header.Clone()
	resp, err := n.Client().Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

// No notation of a non-public address reaches a server at it.
func TestPrivateAddressesAreRefused(t *testing.T) {
	canary := serve(t, "127.0.0.1:0", ok)
	port := canary.port()
	names := serveNames(t, map[string][][]netip.Addr{
		"inside.example": {addresses("127.0.0.1")},
		"both.example":   {addresses("127.0.0.1", "::1")},
		"mapped.example": {addresses("::ffff:127.0.0.1")},
		"ten.example":    {addresses("10.0.0.1")},
		"meta.example":   {addresses("169.254.169.254")},
		"nat64.example":  {addresses("64:ff9b::7f00:1")},
	})
	n := network(t, tool.NetworkOptions{Resolver: names.resolver()})
	for _, url := range []string{
		"http://127.0.0.1:PORT/", "http://127.0.0.1.:PORT/", "http://127.1:PORT/", "http://127.0.1:PORT/", "http://2130706433:PORT/",
		"http://0x7f000001:PORT/", "http://0x7f.0.0.1:PORT/", "http://0X7F.1:PORT/", "http://0177.0.0.1:PORT/", "http://017700000001:PORT/",
		"http://0:PORT/", "http://0.0.0.0:PORT/", "http://127.255.255.254:PORT/", "http://0x:PORT/", "http://127.0.0.0x1:PORT/",
		"http://[::1]:PORT/", "http://[::]:PORT/", "http://[::ffff:127.0.0.1]:PORT/", "http://[::ffff:7f00:1]:PORT/", "http://[0:0:0:0:0:0:0:1]:PORT/",
		"http://[::127.0.0.1]:PORT/", "http://[64:ff9b::7f00:1]:PORT/", "http://[2002:7f00:1::]:PORT/", "http://[2001:0:7f00:1::]:PORT/",
		"http://[fe80::1%25lo]:PORT/", "http://[::1%25lo]:PORT/", "http://[fd00:ec2::254]/", "http://[fc00::1]/", "http://[ff02::1]/",
		"http://169.254.169.254/latest/meta-data/", "http://100.100.100.200/", "http://168.63.129.16/", "http://100.64.0.1/", "http://198.18.0.1/",
		"http://10.1.2.3/", "http://172.16.0.1/", "http://172.31.255.255/", "http://192.168.1.1/", "http://192.0.0.8/", "http://224.0.0.1/",
		"http://240.0.0.1/", "http://255.255.255.255/", "http://203.0.113.7/", "http://[2001:db8::1]/",
		"http://\u2460\u2461\u2466.0.0.1:PORT/", "http://\uff11\uff12\uff17.0.0.1:PORT/", "http://127\u30020\u30020\u30021:PORT/",
		"http://localhost:PORT/", "http://LOCALHOST:PORT/", "http://localhost.:PORT/",
		"http://inside.example:PORT/", "http://both.example:PORT/", "http://mapped.example:PORT/", "http://ten.example/", "http://meta.example/", "http://nat64.example/",
		"http://public.example@127.0.0.1:PORT/", "http://127.0.0.1:PORT@public.example/", "http://user:pw@localhost:PORT/",
		"http://public.example\\@127.0.0.1:PORT/", "http://127.0.0.1:PORT#@public.example/", "http://127.0.0.1:PORT?@public.example/",
		"http:127.0.0.1:PORT/", "http:///127.0.0.1:PORT/", "http://%31%32%37.0.0.1:PORT/", "http://127.0.0.1%2f@x:PORT/", "http://127.0.0.1%00.example:PORT/",
		"file:///etc/passwd", "gopher://127.0.0.1:PORT/", "ftp://127.0.0.1:PORT/", "unix:///tmp/x", "HTTP+UNIX://x/", "//127.0.0.1:PORT/", "dict://127.0.0.1:PORT/",
	} {
		url = strings.ReplaceAll(url, "PORT", port)
		if body, err := get(t, n, url, nil); err == nil {
			t.Errorf("%s is answered with %q", url, body)
		} else if strings.Contains(err.Error(), "127.0.0.1:"+port+": connect") {
			t.Errorf("%s was dialled: %v", url, err)
		}
	}
	if seen := canary.effects(); len(seen) != 0 {
		t.Errorf("the canary saw %+v", seen)
	}
}

// A name may change its address between any two lookups: the address that is dialled is the
// one that is checked.
func TestChangingNames(t *testing.T) {
	canary := serve(t, "127.0.0.1:0", ok)
	other := serve(t, "127.0.0.2:"+canary.port(), ok)
	flips := make([][]netip.Addr, 0, 20)
	for range 10 {
		flips = append(flips, addresses("127.0.0.2"), addresses("127.0.0.1"))
	}
	names := serveNames(t, map[string][][]netip.Addr{
		"flips.example": flips,
		"mixed.example": {addresses("127.0.0.1", "127.0.0.2")},
	})
	n := network(t, tool.NetworkOptions{
		Resolver: names.resolver(), Private: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")},
	})
	answered := 0
	for range 20 {
		n.Close() // no connection is reused, so each request resolves the name again
		if _, err := get(t, n, "http://flips.example:"+canary.port()+"/", nil); err == nil {
			answered++
		}
	}
	if seen := len(other.effects()); answered != 10 || seen != answered {
		t.Errorf("%d of 20 are answered; the allowed server saw %d", answered, seen)
	}
	if _, err := get(t, n, "http://mixed.example:"+canary.port()+"/", nil); err != nil {
		t.Errorf("a name with one permitted address: %v", err)
	}
	if seen := canary.effects(); len(seen) != 0 {
		t.Errorf("the canary saw %+v", seen)
	}
}

// Where a server of the loopback network is permitted, its address is accepted only in the
// usual notation and without a user name.
func TestSpellings(t *testing.T) {
	server := serve(t, "127.0.0.1:0", ok)
	names := serveNames(t, map[string][][]netip.Addr{
		"2130706433": {addresses("127.0.0.1")}, "0x7f.0.0.1": {addresses("127.0.0.1")}, "0177.0.0.1": {addresses("127.0.0.1")},
		"0x7f000001": {addresses("127.0.0.1")}, "a.1": {addresses("127.0.0.1")}, "0xfg.example": {addresses("127.0.0.1")}, "a.0xfg": {addresses("127.0.0.1")},
	})
	n := network(t, tool.NetworkOptions{Resolver: names.resolver(), Private: loopback})
	for host, want := range map[string]bool{
		"127.0.0.1": true, "[::ffff:127.0.0.1]": true, "0xfg.example": true, "a.0xfg": true,
		"2130706433": false, "0x7f.0.0.1": false, "0177.0.0.1": false, "0x7f000001": false, "a.1": false, "user:pw@127.0.0.1": false, "user@0xfg.example": false,
	} {
		if _, err := get(t, n, "http://"+host+":"+server.port()+"/", nil); (err == nil) != want {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestRedirects(t *testing.T) {
	var canary, other *toolServer
	canary = serve(t, "127.0.0.1:0", ok)
	other = serve(t, "127.0.0.2:0", func(w http.ResponseWriter, r *http.Request) {
		switch to := r.URL.Query().Get("to"); {
		case r.URL.Path == "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case r.URL.Path == "/count" && to != "":
			http.Redirect(w, r, "/count?to="+to[1:], http.StatusFound)
		case to != "":
			status := http.StatusFound
			if r.URL.Path == "/same" {
				status = http.StatusTemporaryRedirect
			}
			http.Redirect(w, r, to, status)
		default:
			ok(w, r)
		}
	})
	third := serve(t, "127.0.0.3:0", ok)
	n := network(t, tool.NetworkOptions{Private: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/31")}})
	header := http.Header{"Authorization": {"Bearer x"}, "X-Api-Key": {"k"}, "Cookie": {"a=b"}, "Accept": {"text/plain"}}

	for _, to := range []string{canary.URL, "http://2130706433:" + canary.port(), "http://[::ffff:127.0.0.1]:" + canary.port(), "file:///etc/passwd", "gopher://127.0.0.2/", "http://a:b@127.0.0.2/"} {
		if body, err := get(t, n, other.URL+"/?to="+to, header); err == nil {
			t.Errorf("a redirect to %s is answered with %q", to, body)
		}
	}
	if seen := canary.effects(); len(seen) != 0 {
		t.Errorf("the canary saw %+v", seen)
	}

	other.effects()
	if _, err := get(t, n, other.URL+"/loop", header); err == nil || !strings.Contains(err.Error(), "too often") || len(other.effects()) != 4 {
		t.Errorf("a loop: %v", err)
	}
	if _, err := get(t, n, other.URL+"/count?to=xxx", header); err != nil {
		t.Errorf("three redirects: %v", err)
	}
	if seen := other.effects(); len(seen) != 4 || seen[3].header.Get("X-Api-Key") != "k" {
		t.Errorf("redirects within a host: %+v", seen)
	}

	// Headers that were meant for one host do not reach another one.
	if _, err := get(t, n, other.URL+"/?to="+third.URL+"&secret=1", header); err != nil {
		t.Error(err)
	}
	seen := third.effects()
	if len(seen) != 1 {
		t.Fatalf("the third server saw %+v", seen)
	}
	for _, name := range []string{"Authorization", "X-Api-Key", "Cookie", "Referer"} {
		if v := seen[0].header.Get(name); v != "" {
			t.Errorf("the third server saw %s: %s", name, v)
		}
	}
	o := tool.Options{Network: n}
	out, _ := run(t, singleTool(t, o, request(other.URL+"/same?to="+third.URL, "method: POST")), `{"secret": 1}`)
	if !out.Failed || !strings.Contains(out.Text, "another host") || len(third.effects()) != 0 {
		t.Errorf("a body that must be sent again: %s", out.Text)
	}
}

func TestListedHosts(t *testing.T) {
	server := serve(t, "127.0.0.1:0", ok)
	names := serveNames(t, map[string][][]netip.Addr{
		"api.example": {addresses("127.0.0.1")}, "a.wide.example": {addresses("127.0.0.1")},
		"wide.example": {addresses("127.0.0.1")}, "evil.example": {addresses("127.0.0.1")}, "xwide.example": {addresses("127.0.0.1")},
	})
	n := network(t, tool.NetworkOptions{
		Hosts:    []string{"API.example:" + server.port(), "*.wide.example:" + server.port(), "plain.example", "[::1]:" + server.port()},
		Private:  loopback,
		Resolver: names.resolver(),
	})
	for host, want := range map[string]bool{
		"api.example": true, "API.EXAMPLE.": true, "a.wide.example": true, "wide.example": false, "xwide.example": false,
		"evil.example": false, "plain.example": false, "127.0.0.1": false, "api.example.evil.example": false,
	} {
		if _, err := get(t, n, "http://"+host+":"+server.port()+"/", nil); (err == nil) != want {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, wrong := range []string{"", "https://x", "a b", "*", "x/y", "a@b"} {
		if _, err := tool.NewNetwork(tool.NetworkOptions{Hosts: []string{wrong}}); !errors.Is(err, shoal.InvalidArgument) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// Exactly the networks that the operator permits are permitted.
func TestPrivateNetworks(t *testing.T) {
	server := serve(t, "127.0.0.1:0", ok)
	for _, c := range []struct {
		allowed string
		want    bool
	}{
		{"127.0.0.1/32", true},
		{"127.0.0.0/8", true},
		{"::ffff:127.0.0.0/104", true},
		{"0.0.0.0/0", true},
		{"127.0.0.2/32", false},
		{"10.0.0.0/8", false},
		{"::1/128", false},
	} {
		n := network(t, tool.NetworkOptions{Private: []netip.Prefix{netip.MustParsePrefix(c.allowed)}})
		if _, err := get(t, n, server.URL, nil); (err == nil) != c.want {
			t.Errorf("%s: %v", c.allowed, err)
		}
	}
	for prefix, want := range map[string]bool{"169.254.0.0/16": false, "0.0.0.0/0": false, "169.254.169.254/32": true} {
		if err := tool.Control(t, "169.254.169.254:80", false, netip.MustParsePrefix(prefix)); (err == nil) != want {
			t.Errorf("metadata with %s: %v", prefix, err)
		}
	}
}

// Only public addresses are called, and only on the ports of the web, unless the operator
// lists a host with its port.
func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		address string
		listed  bool
		want    string // part of the error; empty if permitted
	}{
		{"93.184.216.34:80", false, ""},
		{"93.184.216.34:443", false, ""},
		{"[2606:2800:220:1::1]:443", false, ""},
		{"93.184.216.34:22", false, "port"},
		{"93.184.216.34:6379", false, "port"},
		{"93.184.216.34:8443", true, ""},
		{"10.0.0.1:80", true, "address"},
		{"127.0.0.1:443", true, "address"},
		{"[fe80::1%lo]:443", false, "address"},
		{"[::ffff:10.0.0.1]:443", false, "address"},
		{"[::ffff:93.184.216.34]:443", false, ""},
		{"172.32.0.1:80", false, ""},
		{"100.128.0.1:80", false, ""},
		{"11.0.0.1:80", false, ""},
		{"192.0.1.1:80", false, ""},
		{"223.255.255.255:80", false, ""},
		{"[2001:200::1]:80", false, ""},
		{"[2a00::1]:443", false, ""},
		{"0.0.0.0:80", true, "address"},
		{"10.255.0.1:80", true, "address"},
		{"100.64.0.1:80", true, "address"},
		{"127.0.0.1:80", true, "address"},
		{"169.254.1.1:80", true, "address"},
		{"172.16.0.1:80", true, "address"},
		{"172.31.255.255:80", true, "address"},
		{"192.0.0.8:80", true, "address"},
		{"192.0.2.1:80", true, "address"},
		{"192.88.99.1:80", true, "address"},
		{"192.168.0.1:80", true, "address"},
		{"198.19.255.255:80", true, "address"},
		{"198.51.100.1:80", true, "address"},
		{"203.0.113.1:80", true, "address"},
		{"224.0.0.1:80", true, "address"},
		{"255.255.255.255:80", true, "address"},
		{"168.63.129.16:80", true, "address"},
		{"[::]:80", true, "address"},
		{"[::1]:80", true, "address"},
		{"[::10.0.0.1]:80", true, "address"},
		{"[64:ff9b::a00:1]:80", true, "address"},
		{"[64:ff9b:1::1]:80", true, "address"},
		{"[100::1]:80", true, "address"},
		{"[2001::1]:80", true, "address"},
		{"[2001:db8::1]:80", true, "address"},
		{"[2002:a00:1::]:80", true, "address"},
		{"[3fff::1]:80", true, "address"},
		{"[5f00::1]:80", true, "address"},
		{"[fc00::1]:80", true, "address"},
		{"[fd00:ec2::254]:80", true, "address"},
		{"[fe80::1]:80", true, "address"},
		{"[fec0::1]:80", true, "address"},
		{"[ff02::1]:80", true, "address"},
	} {
		err := tool.Control(t, c.address, c.listed)
		if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestListedPorts(t *testing.T) {
	server := serve(t, "127.0.0.1:0", ok)
	for _, c := range []struct {
		hosts []string
		url   string
		want  string // part of the error; empty if permitted
	}{
		{nil, "http://api.example/", ""},
		{nil, "http://api.example:8443/", "port"},
		{[]string{"api.example:8443"}, "http://api.example:8443/", ""},
		{[]string{"api.example:8443"}, "http://api.example:8444/", "host"},
		{[]string{"api.example:8443"}, "http://api.example/", "host"},
		{[]string{"api.example"}, "http://api.example:443/", ""},
		{[]string{"api.example"}, "http://api.example:8443/", "host"},
	} {
		n := network(t, tool.NetworkOptions{Hosts: c.hosts})
		tool.Pretend(n, server.Listener.Addr().String())
		_, err := get(t, n, c.url, nil)
		if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), "call this "+c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestEnvironmentProxiesAreIgnored(t *testing.T) {
	proxy := serve(t, "127.0.0.1:0", ok)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	n := network(t, tool.NetworkOptions{Private: loopback, Resolver: serveNames(t, nil).resolver()})
	if body, err := get(t, n, "http://nowhere.example/", nil); err == nil || slices.ContainsFunc(proxy.effects(), func(effect) bool { return true }) {
		t.Errorf("the proxy was used: %s", body)
	}
}
