package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/leat-io/leat/tests/bench/workload"
)

// textInput is a text file, its bytes, and what must be found in it.
type textInput struct {
	path string
	data []byte
	want workload.TextAnswer
}

// newTextInput writes the text of a size into dir. Having just been written, it is read from memory.
func newTextInput(dir string, size workload.Size) (in textInput, err error) {
	want, ok := workload.TextWant(size)
	if !ok {
		return in, fmt.Errorf("no answer is known for size %s", size)
	}
	in = textInput{path: filepath.Join(dir, "text"), want: want}
	f, err := os.Create(in.path)
	if err != nil {
		return in, err
	}
	hash := sha256.New()
	out := bufio.NewWriterSize(io.MultiWriter(f, hash), 1<<20)
	err = workload.WriteText(out, workload.DefaultSeed, 0, size.Records())
	if err = errors.Join(err, out.Flush(), f.Close()); err != nil {
		return in, fmt.Errorf("write text: %w", err)
	}
	if got := hex.EncodeToString(hash.Sum(nil))[:16]; got != want.Digest {
		return in, fmt.Errorf("the text's digest is %s, want %s", got, want.Digest)
	}
	in.data, err = os.ReadFile(in.path)
	return in, err
}

// measureText measures W1: word count and grep over a file.
func measureText(ctx context.Context, s *suite) error {
	in, err := newTextInput(s.dir, s.size)
	if err != nil {
		return err
	}
	r := row{workload: "W1", size: s.size, records: s.size.Records()}
	if s.wants("wordcount") {
		if err := measureWordCount(ctx, s, r, in); err != nil {
			return err
		}
	}
	if s.wants("grep") {
		if err := measureGrep(ctx, s, r, in); err != nil {
			return err
		}
	}
	if s.wants("windowed count of it all") {
		if err := measureWindowedText(ctx, s, r); err != nil {
			return err
		}
	}
	if s.wants("windowed count, top") {
		return measureWordWindows(ctx, s, r)
	}
	return nil
}
