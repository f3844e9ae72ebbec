package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// describeListener names the process that listens on an address of this machine, as far as this user may know it.
func describeListener(ctx context.Context, addr string) string {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "another program"
	}
	who := listeningProcess(ctx, port)
	version := shoalVersion(ctx, addr)
	switch {
	case version != "" && who != "":
		return fmt.Sprintf("a Shoal server of another data directory (version %s, %s)", version, who)
	case version != "":
		return fmt.Sprintf("a Shoal server of another data directory (version %s)", version)
	case who != "":
		return "another program (" + who + ")"
	}
	return "another program"
}

// shoalVersion returns the version of the Shoal that answers at an address, empty if none
// does.
func shoalVersion(ctx context.Context, addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		addr = net.JoinHostPort("127.0.0.1", port)
	}
	return cmp.Or(versionAt(ctx, localHTTP, "http://"+addr), versionAt(ctx, anyCertificate, "https://"+addr))
}

// anyCertificate asks servers on this machine what they are, and has no secret to lose.
var anyCertificate = &http.Client{Transport: &http.Transport{
	DisableKeepAlives: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}, //nolint:gosec // the certificate is of a name that is not known here
}}

// versionAt returns the version of the Shoal server at a URL, and "" if no such server answers.
func versionAt(ctx context.Context, over *http.Client, url string) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/healthz", http.NoBody)
	if err != nil {
		return ""
	}
	res, err := over.Do(req)
	if err != nil {
		return ""
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	var health struct{ Status, Version string }
	if json.NewDecoder(io.LimitReader(res.Body, 4<<10)).Decode(&health) != nil || health.Status != "ok" {
		return ""
	}
	return health.Version
}

// listeningProcess names the process that listens on a port, empty if this user cannot
// know it.
func listeningProcess(ctx context.Context, port string) string {
	if sockets := listeningSockets(port); len(sockets) > 0 {
		return socketOwner(sockets)
	}
	out, err := exec.CommandContext(ctx, "lsof", "-nP", "-iTCP:"+port, "-sTCP:LISTEN", "-Fpc").Output()
	if err != nil {
		return "" // it is not installed, or sees nothing
	}
	var pid, name string
	for line := range strings.Lines(string(out)) {
		switch value := strings.TrimSpace(line[1:]); line[0] {
		case 'p':
			pid = value
		case 'c':
			name = value
		}
	}
	if pid == "" {
		return ""
	}
	return fmt.Sprintf("%s, process %s", name, pid)
}

// listeningSockets returns the links of the sockets that listen on a port, as Linux names
// them.
func listeningSockets(port string) map[string]bool {
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil
	}
	const listening = "0A"
	found := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(table)
		if err != nil {
			continue // there is no such system
		}
		for line := range strings.Lines(string(text)) {
			cells := strings.Fields(line)
			if len(cells) > 9 && cells[3] == listening && strings.HasSuffix(cells[1], fmt.Sprintf(":%04X", number)) {
				found["socket:["+cells[9]+"]"] = true
			}
		}
	}
	return found
}

// socketOwner names a process that has one of the sockets open.
func socketOwner(sockets map[string]bool) string {
	handles, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return ""
	}
	for _, handle := range handles {
		target, err := os.Readlink(handle)
		if err != nil || !sockets[target] {
			continue // another user's, or closed since
		}
		dir := filepath.Dir(filepath.Dir(handle))
		name, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err != nil {
			continue
		}
		return fmt.Sprintf("%s, process %s", strings.TrimSpace(string(name)), filepath.Base(dir))
	}
	return ""
}
