// Package calendar knows when a cron expression comes next.
//
//	next, err := calendar.NextTime("30 2 * * mon-fri", "Europe/Berlin", time.Now())
//
// What is promised:
//   - An expression has five fields: minute, hour, day of the month, month, day of
//     the week (0 and 7 are Sunday; names of three letters count); or it is one of
//     @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly. So no two
//     times are closer than a minute.
//   - Where day of the month and day of the week are both restricted, either is
//     enough, as in every cron since the first.
//   - When clocks go forward, a time that does not exist comes as much later as they
//     move. When they go back, a time that exists twice comes twice.
//   - Whatever the text, nothing panics and the search ends.
package calendar

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // for machines that have none

	"github.com/netresearch/go-cron"

	"github.com/shoal-dev/shoal"
)

const (
	maxCron = shoal.MaxName
	// searchDays covers the eight years between two 29ths of February around 2100.
	searchDays = 9 * 366
)

var parser = cron.MustNewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// NextTime returns the first time behind after that the expression names in a time
// zone, an IANA name; empty is UTC. The result is in UTC. InvalidArgument names the
// field, cron or timeZone, that means nothing, and cron when no time follows.
func NextTime(expression, timeZone string, after time.Time) (time.Time, error) {
	zone, err := Zone(timeZone)
	if err != nil {
		return time.Time{}, err
	}
	s, err := parse(expression)
	if err != nil {
		return time.Time{}, err
	}
	next, ok := s.next(after, zone)
	if !ok {
		return time.Time{}, shoal.Invalid("cron", fmt.Sprintf("%q never comes: there is no such day", expression))
	}
	return next, nil
}

// Zone returns the time zone of an IANA name such as Europe/Berlin; empty is UTC.
// InvalidArgument names the field timeZone.
func Zone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || zone == time.Local || len(name) > shoal.MaxName {
		return nil, shoal.Invalid("timeZone", fmt.Sprintf("%q is no time zone; use an IANA name such as Europe/Berlin, or UTC", cut(name)))
	}
	return zone, nil
}

const form = `five fields (minute, hour, day of month, month, day of week) such as "30 9 * * mon-fri", or @hourly, @daily, @weekly, @monthly or @yearly`

func parse(expression string) (schedule, error) {
	text := strings.TrimSpace(expression)
	if len(text) > maxCron || strings.Contains(text, "=") || strings.HasPrefix(strings.ToLower(text), "@every") {
		return schedule{}, shoal.Invalid("cron", fmt.Sprintf("%q cannot be used; it has %s, and the time zone is a field of its own", cut(text), form))
	}
	parsed, err := parser.Parse(text)
	fields, ok := parsed.(*cron.SpecSchedule)
	if err == nil && !ok {
		err = errors.New("it is an interval")
	}
	if err != nil {
		return schedule{}, shoal.Invalid("cron", fmt.Sprintf("%q cannot be read (%s); it has %s", text, cut(err.Error()), form))
	}
	return schedule{minutes: fields.Minute, hours: fields.Hour, days: fields.Dom, months: fields.Month, weekdays: fields.Dow}, nil
}

// cut keeps what somebody wrote short in a sentence about it.
func cut(text string) string {
	const most = 100
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
