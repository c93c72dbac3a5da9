package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// vocabulary is how many words there are, and lineWords how many a line has.
const (
	vocabulary = 2000
	lineWords  = 8
)

// A text writes files of random words into a folder, and counts the words plainly.
type text struct {
	in, tmp string // files are made in tmp and moved to in, so that they appear whole
	rng     *rand.Rand
	zipf    *rand.Zipf
	names   [vocabulary]string
	files   int
	counts  map[string]int64
	words   int64
	buf     bytes.Buffer
}

func newText(dir string, seed int64) (*text, error) {
	t := &text{in: filepath.Join(dir, "in"), tmp: filepath.Join(dir, "tmp"), counts: map[string]int64{}}
	t.rng = rand.New(rand.NewPCG(uint64(seed), 0))
	t.zipf = rand.NewZipf(t.rng, 1.2, 2, vocabulary-1)
	for i := range t.names {
		t.names[i] = fmt.Sprintf("word%d", i)
	}
	for _, dir := range []string{t.in, t.tmp} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// write makes a file of so many lines appear.
func (t *text) write(lines int) error {
	t.buf.Reset()
	for range lines {
		for i := range lineWords {
			if i > 0 {
				t.buf.WriteByte(' ')
			}
			word := t.names[t.zipf.Uint64()]
			t.buf.WriteString(word)
			t.counts[word]++
			t.words++
		}
		t.buf.WriteByte('\n')
	}
	name := fileName(t.files)
	t.files++
	tmp := filepath.Join(t.tmp, name)
	if err := os.WriteFile(tmp, t.buf.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(t.in, name))
}

// fileName returns the name of a file by its number.
func fileName(number int) string { return fmt.Sprintf("%06d.txt", number) }

// every is how often a file appears.
const every = 100 * time.Millisecond

// feed lets files appear at a rate until stop is closed.
func (t *text) feed(linesPerSecond int, stop <-chan struct{}) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	begin, written := time.Now(), 0
	for {
		select {
		case <-stop:
			return nil
		case now := <-ticker.C:
			due := int(now.Sub(begin).Seconds() * float64(linesPerSecond))
			if due > written {
				if err := t.write(due - written); err != nil {
					return err
				}
				written = due
			}
		}
	}
}
