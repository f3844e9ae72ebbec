package auth

import (
	"net/http"
	"strings"
)

// browsers and systems are what a User-Agent is searched for, in this order: most browsers also
// name the ones that they imitate.
var (
	browsers = []struct{ mark, name string }{
		{"Edg", "Edge"},
		{"OPR/", "Opera"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Chromium/", "Chromium"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"},
	}
	systems = []struct{ mark, name string }{
		{"Windows", "Windows"}, {"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Macintosh", "macOS"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"},
	}
)

// unknownDevice is the device of a program that names no browser.
const unknownDevice = "Unknown browser"

// deviceOf describes the browser that sends a request, such as "Firefox on macOS". It contains
// nothing that the sender could choose freely.
func deviceOf(r *http.Request) string {
	agent, device := r.UserAgent(), unknownDevice
	for _, b := range browsers {
		if strings.Contains(agent, b.mark) {
			device = b.name
			break
		}
	}
	for _, s := range systems {
		if strings.Contains(agent, s.mark) {
			return device + " on " + s.name
		}
	}
	return device
}
