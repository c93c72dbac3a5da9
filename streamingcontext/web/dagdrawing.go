package web

import (
	"html/template"
	"strings"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/streamingcontext/progress"
)

// Sizes of a drawing, in pixels of its own.
const (
	boxWidth    = 212
	boxHeight   = 40
	lineHeight  = 14
	boxGap      = 26 // between boxes
	lane        = 13 // above a box: where what is read from shuffles comes along
	stagePad    = 12
	stageHead   = 40
	columnGap   = 52 // between stages
	stageGap    = 18
	margin      = 2
	titleLetter = 24 // letters that fit
	smallLetter = 30
)

// draw returns the lineage of a job as an SVG.
func (p *painter) draw(j progress.Job) template.HTML {
	if len(j.Stages) == 0 {
		return ""
	}
	if len(j.Stages) > maxDrawnStages {
		return template.HTML(`<p class="quiet">` + counted(len(j.Stages), "stage") + `: too many to draw.</p>`)
	}
	stages := make([]*drawnStage, len(j.Stages))
	byID := map[int]*drawnStage{}
	for i, st := range j.Stages {
		if st.Skipped {
			st.RDDs = st.RDDs[:min(len(st.RDDs), 1)] // the end says enough of what did not run
		}
		stages[i] = p.arrange(st)
		stages[i].size()
		byID[st.Stage] = stages[i]
	}
	for range stages { // as often as the longest path can need
		for _, s := range stages {
			for _, id := range s.Parents {
				if from := byID[id]; from != nil {
					s.depth = min(max(s.depth, from.depth+1), len(stages)-1)
				}
			}
		}
	}
	width, height := place(stages)
	var d drawing
	d.add(`<svg class="dag" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="Lineage of job %d">`, width, height, width, height, j.ID)
	for _, s := range stages {
		s.drawFrame(&d)
	}
	for _, s := range stages {
		s.drawShuffles(&d, stages, byID)
	}
	for _, s := range stages {
		p.drawBoxes(&d, s)
	}
	d.add(`</svg>`)
	return template.HTML(d.String())
}

// size lays out the boxes of a stage, from its upper left corner.
func (s *drawnStage) size() {
	rows := map[int][]*box{}
	last := 0
	for _, b := range s.boxes {
		rows[b.rank] = append(rows[b.rank], b)
		last = max(last, b.rank)
	}
	s.w, s.h = boxWidth+2*stagePad, stageHead
	for rank := 0; rank <= last; rank++ {
		if n := len(rows[rank]); n > 0 {
			s.w = max(s.w, n*boxWidth+(n-1)*boxGap+2*stagePad)
		}
	}
	for rank := 0; rank <= last; rank++ {
		row := rows[rank]
		if len(row) == 0 {
			continue
		}
		x := (s.w - len(row)*boxWidth - (len(row)-1)*boxGap) / 2
		tallest := 0
		for _, b := range row {
			b.x, b.y, b.w, b.h = x, s.h, boxWidth, boxHeight+lineHeight*len(b.inner)
			if len(b.marks) > 0 {
				b.h += lineHeight
			}
			x += boxWidth + boxGap
			tallest = max(tallest, b.h)
		}
		s.h += tallest + boxGap
	}
	s.h += stagePad - boxGap
	if len(s.boxes) == 0 {
		s.h = stageHead + lineHeight + stagePad
	}
}

// place puts stages into columns by their depth, and returns the size of the whole.
func place(stages []*drawnStage) (width, height int) {
	var columns [][]*drawnStage
	for _, s := range stages {
		for len(columns) <= s.depth {
			columns = append(columns, nil)
		}
		columns[s.depth] = append(columns[s.depth], s)
	}
	tall := make([]int, len(columns))
	for i, column := range columns {
		for _, s := range column {
			tall[i] += s.h + stageGap
		}
		height = max(height, tall[i]-stageGap)
	}
	x := margin
	for i, column := range columns {
		if len(column) == 0 {
			continue
		}
		wide := 0
		for _, s := range column {
			wide = max(wide, s.w)
		}
		y := margin + (height-tall[i]+stageGap)/2
		for _, s := range column {
			s.x, s.y = x+(wide-s.w)/2, y
			for _, b := range s.boxes {
				b.x, b.y = b.x+s.x, b.y+s.y
			}
			y += s.h + stageGap
		}
		x += wide + columnGap
	}
	return x - columnGap + margin, height + 2*margin
}

// class returns how a stage is drawn, and what is said of it.
func (s *drawnStage) class() (class, says string) {
	switch {
	case s.Skipped:
		return "stage skipped", "skipped"
	case s.Running:
		return "stage runs", "running"
	case s.Err != nil:
		return "stage bad", "failed"
	}
	return "stage", roundText(s.Duration())
}

func (s *drawnStage) drawFrame(d *drawing) {
	class, says := s.class()
	d.add(`<g class="%s"><rect class="frame" x="%d" y="%d" width="%d" height="%d" rx="6"/>`, class, s.x, s.y, s.w, s.h)
	d.add(`<text class="head" x="%d" y="%d">Stage %d</text>`, s.x+stagePad, s.y+18, s.Stage.Stage)
	d.add(`<text class="said" x="%d" y="%d" text-anchor="end">%s</text>`, s.x+s.w-stagePad, s.y+18, text(says))
	if len(s.boxes) == 0 {
		d.add(`<text class="small" x="%d" y="%d">%s</text>`, s.x+stagePad, s.y+stageHead, text(fit(s.Op+" "+s.Site, smallLetter)))
	}
	d.add(`</g>`)
}

func (p *painter) drawBoxes(d *drawing, s *drawnStage) {
	class, _ := s.class()
	d.add(`<g class="%s">`, class)
	for _, b := range s.boxes {
		for _, from := range b.parents {
			x1, y1, x2, y2 := from.x+from.w/2, from.y+from.h, b.x+b.w/2, b.y
			d.add(`<path class="narrow" d="M%d %d C%d %d %d %d %d %d"/>`, x1, y1, x1, y1+boxGap/2, x2, y2-boxGap/2, x2, y2-5)
			d.add(`<path class="tip" d="M%d %d l-4 -6 h8 z"/>`, x2, y2)
		}
	}
	for _, b := range s.boxes {
		p.drawBox(d, b, s.Stage)
	}
	d.add(`</g>`)
}

func (p *painter) drawBox(d *drawing, b *box, st progress.Stage) {
	class := "rdd"
	if len(b.marks) > 0 {
		class = "rdd kept"
	}
	var all []string
	for _, i := range b.nodes {
		r := st.RDDs[i]
		all = append(all, r.Op+"["+r.ID.String()+"] "+r.Site)
	}
	title, below := p.title(b), p.below(b)
	d.add(`<g class="%s"><title>%s</title>`, class, text(title+" "+below+"\n"+strings.Join(all, "\n")))
	d.add(`<rect x="%d" y="%d" width="%d" height="%d" rx="4"/>`, b.x, b.y, b.w, b.h)
	d.add(`<text class="op" x="%d" y="%d">%s</text>`, b.x+9, b.y+17, text(fit(title, titleLetter)))
	d.add(`<text class="small" x="%d" y="%d">%s</text>`, b.x+9, b.y+32, text(fit(below, smallLetter)))
	y := b.y + 32
	for _, line := range b.inner {
		y += lineHeight
		d.add(`<text class="small" x="%d" y="%d">· %s</text>`, b.x+9, y, text(fit(line, smallLetter-2)))
	}
	if len(b.marks) > 0 {
		d.add(`<text class="small level" x="%d" y="%d">%s</text>`, b.x+9, y+lineHeight, text(fit(strings.Join(b.marks, ", "), smallLetter)))
	}
	d.add(`</g>`)
}

// drawShuffles draws what a stage reads of others.
func (s *drawnStage) drawShuffles(d *drawing, stages []*drawnStage, byID map[int]*drawnStage) {
	ends := map[lineage.NodeID]*drawnStage{}
	for _, from := range stages {
		if len(from.RDDs) > 0 && from != s {
			ends[from.RDDs[0].ID] = from
		}
	}
	drawn := map[int]bool{}
	type edge struct {
		from int
		to   *box
	}
	seen := map[edge]bool{}
	for i := range s.RDDs {
		to := s.of[s.RDDs[i].ID]
		for _, id := range s.RDDs[i].Parents {
			from := ends[id]
			if from == nil || s.of[id] != nil || seen[edge{from.Stage.Stage, to}] {
				continue
			}
			seen[edge{from.Stage.Stage, to}] = true
			drawn[from.Stage.Stage] = true
			x, y := from.exit()
			arrow(d, x, y, s.x-columnGap/2, to.y-lane, to.x+to.w/2, to.y)
		}
	}
	for _, id := range s.Parents {
		if from := byID[id]; from != nil && !drawn[id] {
			x, y := from.exit()
			arrow(d, x, y, s.x-columnGap/2, s.y+stageHead-lane, s.x+s.w/2, s.y+stageHead)
		}
	}
}

// exit is where the arrows of a stage begin: at the box it ends at.
func (s *drawnStage) exit() (x, y int) {
	if len(s.boxes) == 0 {
		return s.x + s.w, s.y + s.h/2
	}
	b := s.of[s.RDDs[0].ID]
	return b.x + b.w, b.y + boxHeight/2
}

// arrow draws what goes from x1, y1 to the gap before a stage, along the lane above a box, and down to it.
func arrow(d *drawing, x1, y1, gap, lane, x2, y2 int) {
	const r = 6 // of the corners
	gap = max(gap, x1+r)
	d.add(`<path class="shuffle" d="M%d %d H%d`, x1, y1, gap-r)
	switch {
	case lane-y1 >= 2*r:
		d.add(` q%d 0 %d %d V%d q0 %d %d %d`, r, r, r, lane-r, r, r, r)
	case y1-lane >= 2*r:
		d.add(` q%d 0 %d %d V%d q0 %d %d %d`, r, r, -r, lane+r, -r, r, -r)
	default:
		d.add(` L%d %d`, gap+r, lane)
	}
	d.add(` H%d q%d 0 %d %d V%d"/>`, x2-r, r, r, r, y2-5)
	d.add(`<path class="tip" d="M%d %d l-4 -6 h8 z"/>`, x2, y2)
}

// fit cuts a text to so many letters.
func fit(s string, letters int) string {
	if r := []rune(s); len(r) > letters {
		return string(r[:letters-1]) + "…"
	}
	return s
}
