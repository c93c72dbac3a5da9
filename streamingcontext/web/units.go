package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A unit is what durations are shown in.
type unit struct {
	name string
	ms   float64
}

var units = []unit{{"ms", 1}, {"sec", 1000}, {"min", 60_000}, {"hrs", 3_600_000}, {"days", 86_400_000}}

// unitOf returns the largest unit of which d has at least one.
func unitOf(d time.Duration) unit {
	ms := float64(d) / float64(time.Millisecond)
	chosen := units[0]
	for _, u := range units[1:] {
		if ms >= u.ms {
			chosen = u
		}
	}
	return chosen
}

// in returns d as a number of units.
func (u unit) in(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) / u.ms }

// text returns d as in "1.5 sec".
func (u unit) text(d time.Duration) string { return number(u.in(d)) + " " + u.name }

// durationText returns a duration in the unit that suits it.
func durationText(d time.Duration) string { return unitOf(d).text(d) }

// knownText is durationText for what may not be known yet.
func knownText(d time.Duration, known bool) string {
	if !known {
		return "–"
	}
	return durationText(d)
}

// roundText is knownText for times of finer clocks than that of batches: from ten milliseconds on, whole ones.
func roundText(d time.Duration, known bool) string {
	if d >= 10*time.Millisecond {
		d = d.Round(time.Millisecond)
	}
	return knownText(d, known)
}

// number returns v with at most two decimals.
func number(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// grouped returns a count with its thousands apart.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	for i := range len(s) {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(s[i])
	}
	return sign + b.String()
}

// verbose returns a duration in whole seconds, as in "1 hour 5 minutes".
func verbose(d time.Duration) string {
	s := int64(d / time.Second)
	var words []string
	for _, u := range []struct {
		name string
		s    int64
	}{{"day", 86400}, {"hour", 3600}, {"minute", 60}, {"second", 1}} {
		if n := s / u.s; n > 0 || u.s == 1 && len(words) == 0 {
			s -= n * u.s
			words = append(words, counted(int(n), u.name))
		}
	}
	return strings.Join(words, " ")
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "ch") {
		return fmt.Sprintf("%d %ses", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// A calendar says how batch times are shown.
type calendar struct {
	zone     *time.Location
	interval time.Duration
}

// clock returns the time of day of a batch, with milliseconds only where the interval is below a second.
func (c calendar) clock(ms int64) string { return c.format(ms, "15:04:05") }

// date returns day and time of day of a batch.
func (c calendar) date(ms int64) string { return c.format(ms, "2006-01-02 15:04:05") }

func (c calendar) format(ms int64, layout string) string {
	if c.interval < time.Second {
		layout += ".000"
	}
	return time.UnixMilli(ms).In(c.zone).Format(layout)
}
