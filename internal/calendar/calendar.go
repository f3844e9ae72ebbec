// Package calendar computes the next time of a cron expression.
//
//	next, err := calendar.NextTime("30 2 * * mon-fri", "Europe/Berlin", time.Now())
//
// Guarantees:
//   - An expression has five fields: minute, hour, day of the month, month, day of the
//     week (0 and 7 are Sunday; three-letter names are accepted). Or it is one of @yearly,
//     @annually, @monthly, @weekly, @daily, @midnight and @hourly. Two times are therefore
//     at least one minute apart.
//   - If both day of the month and day of the week are restricted, a day that matches either
//     one is enough, as in the original cron.
//   - When clocks go forward, a time that does not exist is shifted by the same amount. When
//     they go back, a time that exists twice occurs twice.
//   - For any text, nothing panics and the search ends.
package calendar

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // for machines without a time zone database

	"github.com/netresearch/go-cron"

	"github.com/shoal-dev/shoal"
)

const (
	maxCron = shoal.MaxName
	// searchDays covers the eight years between two 29ths of February around 2100.
	searchDays = 9 * 366
)

var parser = cron.MustNewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// NextTime returns the first time after the given one that the expression matches in a time
// zone, an IANA name; empty means UTC. The result is in UTC. An InvalidArgument error names
// the invalid field, cron or timeZone; it names cron if no time follows.
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
		return time.Time{}, shoal.Invalid("cron", fmt.Sprintf("%q never occurs: the day does not exist", expression))
	}
	return next, nil
}

// Zone returns the time zone of an IANA name such as Europe/Berlin; empty means UTC. An
// InvalidArgument error names the field timeZone.
func Zone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || zone == time.Local || len(name) > shoal.MaxName {
		return nil, shoal.Invalid("timeZone", fmt.Sprintf("%q is not a time zone; use an IANA name such as Europe/Berlin, or UTC", truncate(name)))
	}
	return zone, nil
}

const formHelp = `five fields (minute, hour, day of month, month, day of week) such as "30 9 * * mon-fri", or @hourly, @daily, @weekly, @monthly or @yearly`

func parse(expression string) (schedule, error) {
	text := strings.TrimSpace(expression)
	if len(text) > maxCron || strings.Contains(text, "=") || strings.HasPrefix(strings.ToLower(text), "@every") {
		return schedule{}, shoal.Invalid("cron", fmt.Sprintf("%q is not supported; use %s, and set the time zone in its own field", truncate(text), formHelp))
	}
	parsed, err := parser.Parse(text)
	fields, ok := parsed.(*cron.SpecSchedule)
	if err == nil && !ok {
		err = errors.New("it is an interval")
	}
	if err != nil {
		return schedule{}, shoal.Invalid("cron", fmt.Sprintf("%q is not a cron expression (%s); use %s", text, truncate(err.Error()), formHelp))
	}
	return schedule{minutes: fields.Minute, hours: fields.Hour, days: fields.Dom, months: fields.Month, weekdays: fields.Dow}, nil
}

// truncate truncates user input for an error message.
func truncate(text string) string {
	const most = 100
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
