package background

import (
	"context"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func launchdDomain() string { return "gui/" + strconv.Itoa(os.Getuid()) }

func (s Service) label() string { return "dev.shoal." + s.name() }

// launchdJob is the property list of a server. It is started again when it fails.
func (s Service) launchdJob(d Definition) (string, error) {
	var words strings.Builder
	for _, word := range append([]string{d.Program}, s.arguments()...) {
		text, err := xmlText(word)
		if err != nil {
			return "", err
		}
		words.WriteString("\n    <string>" + text + "</string>")
	}
	log, err := xmlText(s.LogPath())
	if err != nil {
		return "", err
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by "shoal up", removed by "shoal down". -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>` + s.label() + `</string>
  <key>ProgramArguments</key>
  <array>` + words.String() + `
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>15</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardOutPath</key>
  <string>` + log + `</string>
  <key>StandardErrorPath</key>
  <string>` + log + `</string>
</dict>
</plist>
`, nil
}

func xmlText(s string) (string, error) {
	var b strings.Builder
	err := xml.EscapeText(&b, []byte(s))
	return b.String(), err
}

func (s Service) jobPath() (string, error) {
	home, err := os.UserHomeDir()
	return filepath.Join(home, "Library", "LaunchAgents", s.label()+".plist"), err
}

func (s Service) startLaunchd(ctx context.Context, d Definition) error {
	path, err := s.jobPath()
	if err != nil {
		return err
	}
	job, err := s.launchdJob(d)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(job), 0o600); err != nil {
		return err
	}
	// A job of that name that has ended is still loaded; there may be none.
	_, _ = output(ctx, "launchctl", "bootout", launchdDomain()+"/"+s.label())
	_, err = output(ctx, "launchctl", "bootstrap", launchdDomain(), path)
	return err
}

func (s Service) stopLaunchd(ctx context.Context) error {
	path, err := s.jobPath()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return s.stopProcess() // somebody has removed the job
	}
	_, err = output(ctx, "launchctl", "bootout", launchdDomain()+"/"+s.label())
	return errors.Join(err, removeIfThere(path))
}

// endedLaunchd reports whether launchd does not know the job. A job that fails is
// started again, so only the time that the caller waits ends the attempts.
func (s Service) endedLaunchd(ctx context.Context) (bool, error) {
	_, err := output(ctx, "launchctl", "print", launchdDomain()+"/"+s.label())
	return err != nil, context.Cause(ctx)
}
