package web

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
)

// Sizes of charts, in pixels of their own.
const (
	timelineWidth  = 640
	histogramWidth = 260
	chartHeight    = 132
	chartLeft      = 54 // of the drawing area
	chartTop       = 14
	chartBottom    = 110
	bins           = 10
	maxHits        = 120 // areas of a timeline that say something
)

// A point is the value of a batch.
type point struct {
	batch  int64 // its time
	value  float64
	failed bool
}

// A chart is values of batches over time. The timeline and the histogram of one have the same upright axis.
type chart struct {
	name   string
	points []point // oldest first
	top    float64 // the end of the axis, which begins with 0
	unit   string
	mark   float64 // a line across it; 0: none
	says   string  // what the line is
	times  calendar
	link   func(batch int64) string
}

// y is where a value is drawn.
func (c *chart) y(v float64) float64 {
	if c.top <= 0 {
		return chartBottom
	}
	return chartBottom - min(v/c.top, 1)*(chartBottom-chartTop)
}

// axisNumber leaves out what nobody reads off an axis.
func axisNumber(v float64) string {
	if v >= 1000 {
		return grouped(int64(math.Round(v)))
	}
	return number(v)
}

func (c *chart) text(v float64) string { return number(v) + " " + c.unit }

// drawing collects an SVG. Whatever is not a number goes through text.
type drawing struct{ strings.Builder }

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(&d.Builder, format, args...) }

func text(s string) string { return template.HTMLEscapeString(s) }

// axis draws the frame with its numbers.
func (c *chart) axis(d *drawing, right int) {
	for _, v := range []float64{0, c.top / 2, c.top} {
		d.add(`<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, chartLeft, right, c.y(v), c.y(v))
		if v > 0 {
			d.add(`<text class="num" x="%d" y="%.1f" text-anchor="end">%s</text>`, chartLeft-6, c.y(v)+3.5, axisNumber(v))
		}
	}
	d.add(`<text class="num" x="%d" y="%.1f" text-anchor="end">%s</text>`, chartLeft-6, c.y(0)+3.5, text("0 "+c.unit))
}

// timeline draws the values over the batches.
func (c *chart) timeline() template.HTML {
	var d drawing
	d.add(`<svg class="timeline" viewBox="0 0 %d %d" role="img" aria-label="%s, timeline">`, timelineWidth, chartHeight, text(c.name))
	right := timelineWidth - 8
	c.axis(&d, right)
	x := func(i int) float64 {
		if len(c.points) == 1 {
			return float64(chartLeft+right) / 2
		}
		return chartLeft + float64(i)/float64(len(c.points)-1)*float64(right-chartLeft)
	}
	if n := len(c.points); n > 0 {
		var path strings.Builder
		for i, p := range c.points {
			fmt.Fprintf(&path, " %.1f,%.1f", x(i), c.y(p.value))
		}
		d.add(`<polygon class="area" points="%.1f,%d%s %.1f,%d"/>`, x(0), chartBottom, path.String(), x(n-1), chartBottom)
		d.add(`<polyline class="curve" points="%s"/>`, path.String()[1:])
		if n == 1 {
			d.add(`<circle class="dot" cx="%.1f" cy="%.1f" r="2.5"/>`, x(0), c.y(c.points[0].value))
		}
		for i, p := range c.points {
			if p.failed {
				d.add(`<circle class="failed" cx="%.1f" cy="%.1f" r="3"/>`, x(i), c.y(p.value))
			}
		}
		d.add(`<text class="num" x="%d" y="%d">%s</text>`, chartLeft, chartHeight-7, text(c.times.clock(c.points[0].batch)))
		if n > 1 {
			d.add(`<text class="num" x="%d" y="%d" text-anchor="end">%s</text>`, right, chartHeight-7, text(c.times.clock(c.points[n-1].batch)))
		}
	}
	c.drawMark(&d, right)
	c.hits(&d, right)
	d.add(`</svg>`)
	return template.HTML(d.String())
}

// drawMark draws the line across; one beyond the axis is said at the edge.
func (c *chart) drawMark(d *drawing, right int) {
	if c.mark <= 0 || len(c.points) == 0 {
		return
	}
	at, says := c.y(c.mark), c.says
	if c.mark > c.top {
		at, says = chartTop, "↑ "+says
	} else {
		d.add(`<line class="mark" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, chartLeft, right, at, at)
	}
	d.add(`<text class="marked" x="%d" y="%.1f" text-anchor="end">%s</text>`, right, max(at-3, 9), text(says))
}

// hits lays areas over the timeline that say the value below them and lead to its batch: of many neighbours
// the one with the largest value.
func (c *chart) hits(d *drawing, right int) {
	n := len(c.points)
	areas := min(n, maxHits)
	for a := range areas {
		from, to := a*n/areas, (a+1)*n/areas
		top := slices.MaxFunc(c.points[from:to], func(p, q point) int {
			switch {
			case p.value < q.value:
				return -1
			case p.value > q.value:
				return 1
			}
			return 0
		})
		width := float64(right-chartLeft) / float64(areas)
		d.add(`<a href="%s"><rect class="hit" x="%.1f" y="%d" width="%.1f" height="%d"><title>%s at %s</title></rect></a>`,
			text(c.link(top.batch)), chartLeft+float64(a)*width, chartTop, width, chartBottom-chartTop,
			text(c.text(top.value)), text(c.times.clock(top.batch)))
	}
}

// histogram draws how many batches have which values, lying on its side.
func (c *chart) histogram() template.HTML {
	var counts [bins]int
	for _, p := range c.points {
		bin := 0
		if c.top > 0 {
			bin = min(int(p.value/c.top*bins), bins-1)
		}
		counts[max(bin, 0)]++
	}
	most := slices.Max(counts[:])
	var d drawing
	d.add(`<svg class="histogram" viewBox="0 0 %d %d" role="img" aria-label="%s, histogram">`, histogramWidth, chartHeight, text(c.name))
	right := histogramWidth - 34 // room for the largest count
	c.axis(&d, histogramWidth-8)
	height := float64(chartBottom-chartTop) / bins
	for i, n := range counts {
		if n == 0 {
			continue
		}
		width := math.Max(float64(n)/float64(most)*float64(right-chartLeft), 1)
		y := chartBottom - float64(i+1)*height
		d.add(`<rect class="bar" x="%d" y="%.1f" width="%.1f" height="%.1f"><title>%s to %s: %s</title></rect>`,
			chartLeft, y+0.75, width, height-1.5, number(float64(i)*c.top/bins), text(c.text(float64(i+1)*c.top/bins)), counted(n, "batch"))
		d.add(`<text class="num" x="%.1f" y="%.1f">%d</text>`, chartLeft+width+4, y+height-1.6, n)
	}
	d.add(`<text class="num" x="%d" y="%d" text-anchor="end">batches</text></svg>`, histogramWidth-8, chartHeight-7)
	return template.HTML(d.String())
}
