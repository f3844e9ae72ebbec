package calendar

import "time"

// schedule is an expression as bit sets, one bit for each value of a field. star marks a
// field that is not restricted.
type schedule struct {
	minutes, hours, days, months, weekdays uint64
}

const star = 1 << 63

func hasBit(set uint64, value int) bool { return set>>uint(value)&1 == 1 }

// next returns the first moment after the given one. It counts in days and hours of the wall
// clock and converts each to a moment, so that no clock change makes it skip a day.
func (s schedule) next(after time.Time, zone *time.Location) (time.Time, bool) {
	year, month, day := after.In(zone).Date()
	// The previous day occurs again where clocks go back across midnight.
	for i := -1; i < searchDays; i++ {
		midnight := time.Date(year, month, day+i, 0, 0, 0, 0, time.UTC)
		if !s.includes(midnight) {
			continue
		}
		if first := s.firstMoment(midnight, after, zone); !first.IsZero() {
			return first, true
		}
	}
	return time.Time{}, false
}

// includes reports whether the schedule includes a day.
func (s schedule) includes(day time.Time) bool {
	if !hasBit(s.months, int(day.Month())) {
		return false
	}
	inMonth, inWeek := hasBit(s.days, day.Day()), hasBit(s.weekdays, int(day.Weekday()))
	if s.days&star != 0 || s.weekdays&star != 0 {
		return inMonth && inWeek
	}
	return inMonth || inWeek
}

// firstMoment returns the first moment of a day after the given one, or the zero time.
func (s schedule) firstMoment(midnight, after time.Time, zone *time.Location) (first time.Time) {
	for hour := range 24 {
		if !hasBit(s.hours, hour) {
			continue
		}
		for minute := range 60 {
			if !hasBit(s.minutes, minute) {
				continue
			}
			wall := midnight.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
			for _, moment := range moments(wall, zone) {
				if moment.After(after) && (first.IsZero() || moment.Before(first)) {
					first = moment
				}
			}
		}
	}
	return first
}

// moments returns the moments at which the clocks of a zone show what wall shows in UTC: one,
// two, or none, and in that case the shifted moment.
func moments(wall time.Time, zone *time.Location) []time.Time {
	before := wall.Add(-offset(wall.Add(-24*time.Hour), zone))
	behind := wall.Add(-offset(wall.Add(24*time.Hour), zone))
	if before.Equal(behind) {
		return []time.Time{before}
	}
	var out []time.Time
	for _, moment := range []time.Time{before, behind} {
		if moment.Add(offset(moment, zone)).Equal(wall) {
			out = append(out, moment)
		}
	}
	if len(out) == 0 {
		out = append(out, before)
	}
	return out
}

// offset returns the difference between the clocks of a zone and UTC.
func offset(moment time.Time, zone *time.Location) time.Duration {
	_, seconds := moment.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}
