package auth

import (
	"net/http"
	"testing"
)

// A device is described in words of our own, whatever the browser sends.
func TestDevices(t *testing.T) {
	for agent, want := range map[string]string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/144.0.0.0 Safari/537.36 Edg/144.0.0.0":          "Edge on Windows",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/144.0.0.0 Safari/537.36":                                  "Chrome on Linux",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Safari/605.1.15":                  "Safari on macOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/144.0 Mobile/15E148 Safari/604.1": "Chrome on iPhone",
		"Mozilla/5.0 (Android 16; Mobile; rv:147.0) Gecko/147.0 Firefox/147.0":                                                                   "Firefox on Android",
		"curl/8.5":                     "Unknown browser",
		"":                             "Unknown browser",
		"<script>\r\n on Plan 9 Linux": "Unknown browser on Linux",
	} {
		if got := deviceOf(&http.Request{Header: http.Header{"User-Agent": {agent}}}); got != want {
			t.Errorf("%q is %q, not %q", agent, got, want)
		}
	}
}
