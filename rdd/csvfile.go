package rdd

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// CSVOptions say how CSV is read. The zero value is RFC 4180 with commas and no header.
type CSVOptions struct {
	// Comma is the character between fields; zero means a comma.
	Comma rune
	// Comment, if not zero, begins lines that are left out.
	Comment rune
	// Header leaves out the first record of each file.
	Header bool
	// LazyQuotes takes quotes where they do not belong as part of the field.
	LazyQuotes bool
	// TrimLeadingSpace leaves out white space at the beginning of fields.
	TrimLeadingSpace bool
	// FieldsPerRecord is how many fields each record must have. Zero: as many as the first record of the
	// partition. Negative: any.
	FieldsPerRecord int
	// NoQuotedNewlines promises that no field holds a line end. Files are then cut as TextFile cuts them; else
	// each is one partition, since nobody can tell from the middle of a file which quotes are open.
	NoQuotedNewlines bool
}

// Validate returns an error naming each field that has no meaning.
func (o CSVOptions) Validate() error {
	var errs []error
	if o.Comma != 0 && !delimiter(o.Comma) {
		errs = append(errs, fmt.Errorf("%w: rdd.CSVOptions.Comma is %q", ErrArgument, o.Comma))
	}
	if o.Comment != 0 && (!delimiter(o.Comment) || o.Comment == o.comma()) {
		errs = append(errs, fmt.Errorf("%w: rdd.CSVOptions.Comment is %q", ErrArgument, o.Comment))
	}
	return errors.Join(errs...)
}

// delimiter reports whether r can be told from quotes and line ends.
func delimiter(r rune) bool {
	return r != 0 && r != '"' && r != '\r' && r != '\n' && utf8.ValidRune(r) && r != utf8.RuneError
}

func (o CSVOptions) comma() rune {
	if o.Comma == 0 {
		return ','
	}
	return o.Comma
}

// CSVFile returns the records of CSV files, each as its fields. path is as for TextFile.
//
// Shape: one record out for each record of the files, in their order; empty lines are left out, so is a byte order
// mark. \r\n in a quoted field becomes \n. A file is one partition, unless NoQuotedNewlines is set: then plain
// files are cut, and lines end, as by TextFile.
// Cost: one allocation of text and one of fields for each record. Without NoQuotedNewlines a quote that is never closed
// takes in the rest of the file.
// Errors: as TextFile. A record that is no CSV or has another number of fields fails the task with a *DecodeError
// that wraps the error of encoding/csv; with NoQuotedNewlines a quoted line end does. A minPartitions below 1, and
// options that Validate refuses, are ErrArgument.
// Source: RFC 4180; package encoding/csv.
func CSVFile(c *Context, path string, minPartitions int, o CSVOptions) *RDD[[]string] {
	err := errors.Join(checkMinPartitions(minPartitions), o.Validate())
	if !o.NoQuotedNewlines {
		return fileSource(c, "csvFile", err, func() ([]split, error) { return wholeSplits(path) }, o.readWhole)
	}
	return fileSource(c, "csvFile", err, func() ([]split, error) { return textSplits(path, minPartitions) }, o.readLines)
}

// reader returns a parser of src.
func (o CSVOptions) reader(src io.Reader, fields int) *csv.Reader {
	r := csv.NewReader(src)
	r.Comma, r.Comment, r.FieldsPerRecord = o.comma(), o.Comment, fields
	r.LazyQuotes, r.TrimLeadingSpace = o.LazyQuotes, o.TrimLeadingSpace
	return r
}

const byteOrderMark = "\ufeff"

// readWhole pushes the records of a file.
func (o CSVOptions) readWhole(t *task, at *place, s split, out sink[[]string]) error {
	text, err := openStream(s.path)
	if err != nil {
		return err
	}
	defer text.Close()
	src := bufio.NewReaderSize(text, 64<<10)
	skipped := int64(0)
	if head, err := src.Peek(len(byteOrderMark)); err == nil && string(head) == byteOrderMark {
		n, _ := src.Discard(len(head)) // they are in the buffer
		skipped = int64(n)
	}
	r := o.reader(src, o.FieldsPerRecord)
	chunk, header := make([][]string, 0, chunkSize), o.Header
	for {
		if err := context.Cause(t.ctx); err != nil {
			return err
		}
		chunk = chunk[:0]
		var failure error
		for len(chunk) < chunkSize && failure == nil {
			var record []string
			start := skipped + r.InputOffset()
			record, failure = r.Read()
			switch {
			case failure == io.EOF:
			case failure != nil:
				failure = csvFailure(s.path, at.part, failure, func(int) (line, offset int64) { return 0, start })
			case header:
				header = false
			default:
				chunk = append(chunk, record)
			}
		}
		if failure == io.EOF {
			return done(out, chunk, nil)
		}
		if err := done(out, chunk, failure); err != nil {
			return err
		}
	}
}

// readLines pushes the records of the lines that begin in a split.
func (o CSVOptions) readLines(t *task, at *place, s split, out sink[[]string]) error {
	src := bufio.NewReaderSize(nil, 64<<10)
	records := make([][]string, 0, chunkSize)
	fields, header := o.FieldsPerRecord, o.Header && s.from == 0
	return eachLines(t.ctx, s, true, func(in lineChunk) error {
		if in.starts[0] == 0 {
			in.lines[0] = strings.TrimPrefix(in.lines[0], byteOrderMark)
		}
		// A parser for each chunk: a quote left open ends with it, and says where it was opened.
		src.Reset(&joinedLines{lines: in.lines})
		r := o.reader(src, fields)
		place := func(line int) (int64, int64) { return in.first + int64(line), in.starts[line-1] }
		records = records[:0]
		for {
			record, err := r.Read()
			if err == io.EOF {
				fields = r.FieldsPerRecord
				return done(out, records, nil)
			}
			if err == nil && hasNewline(record) {
				line, _ := r.FieldPos(0)
				err = &csv.ParseError{StartLine: line, Line: line, Column: 1, Err: errQuotedNewline}
			}
			if err != nil {
				return done(out, records, csvFailure(s.path, at.part, err, place))
			}
			if header {
				header = false
				continue
			}
			records = append(records, record)
		}
	})
}

// errQuotedNewline is the fault of a file that breaks the promise of NoQuotedNewlines.
var errQuotedNewline = errors.New("a quoted field holds a line end, and the options say that none does")

func hasNewline(record []string) bool {
	for _, field := range record {
		if strings.IndexByte(field, '\n') >= 0 {
			return true
		}
	}
	return false
}

// csvFailure says where err is. place makes the line of the parser, counted from 1, a line of the partition and a
// place in the file; line 0 leaves the parser's.
func csvFailure(path string, part int, err error, place func(line int) (line64, offset int64)) error {
	parse, ok := errors.AsType[*csv.ParseError](err)
	if !ok { // the file and not what is in it
		_, offset := place(0)
		return &FileError{Path: path, Offset: offset, Err: err}
	}
	line, offset := place(parse.StartLine)
	if line == 0 {
		line = int64(parse.StartLine)
	}
	cause := parse.Err
	if lines := parse.Line - parse.StartLine; lines > 0 {
		cause = fmt.Errorf("%d lines on, column %d: %w", lines, parse.Column, cause)
	} else if !errors.Is(cause, csv.ErrFieldCount) {
		cause = fmt.Errorf("column %d: %w", parse.Column, cause)
	}
	return &DecodeError{Path: path, Partition: part, Line: line, Offset: offset, Err: cause}
}

// joinedLines is lines as text.
type joinedLines struct {
	lines []string
	at    int // bytes of the first line that have been read
}

func (j *joinedLines) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(j.lines) == 0 {
			if n == 0 {
				return 0, io.EOF
			}
			return n, nil
		}
		rest := j.lines[0][j.at:]
		k := copy(p[n:], rest)
		n, j.at = n+k, j.at+k
		if k == len(rest) && n < len(p) {
			p[n] = '\n'
			n, j.at, j.lines = n+1, 0, j.lines[1:]
		}
	}
	return n, nil
}
