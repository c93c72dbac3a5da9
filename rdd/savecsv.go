package rdd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
)

// CSVSaveOptions say how CSV is written. The zero value is commas, no header and \n at the end of
// lines.
type CSVSaveOptions struct {
	// Comma is the character between fields; zero means a comma.
	Comma rune
	// Header, if not empty, is the first record of each file.
	Header []string
	// CRLF ends lines with \r\n, as RFC 4180 has it.
	CRLF bool
}

// Validate returns an error naming each field that has no meaning.
func (o CSVSaveOptions) Validate() error {
	if o.Comma != 0 && !delimiter(o.Comma) {
		return fmt.Errorf("%w: rdd.CSVSaveOptions.Comma is %q", ErrArgument, o.Comma)
	}
	return nil
}

// errNoFields is the fault of a record that CSV has no form for.
var errNoFields = errors.New("a record of no fields cannot be told from an empty line")

// SaveAsCSV writes one CSV file for each partition into a new folder: part-00000.csv and so on, and at the end an empty
// file named _SUCCESS. CSVFile reads them back, except that \r\n within a field becomes \n.
//
// Order: partition order is the order of the names; records in theirs.
// Errors: as SaveAsTextFile; options that Validate refuses are ErrArgument; a record of no fields is a *UserError naming
// the partition and the record.
// Source: RFC 4180; package encoding/csv.
func SaveAsCSV(ctx context.Context, r *RDD[[]string], dir string, o CSVSaveOptions, opts ...SaveOption) error {
	if err := o.Validate(); err != nil {
		return &BuildError{Op: "saveAsCSV", Site: r.ctx.callSite(), Err: err}
	}
	o.Header = append([]string(nil), o.Header...)
	return newSaving(r.subject(), "saveAsCSV", opts, func(t *task, part int, buf *bufio.Writer) error {
		lines := newCSVLines(buf, o)
		if len(o.Header) > 0 {
			if err := lines.add(o.Header); err != nil {
				return err
			}
		}
		at := place{node: &r.base, part: part}
		err := r.push(t, part, tallied(&t.env.Metrics().OutputRows, func(chunk [][]string) error {
			for i, record := range chunk {
				if len(record) == 0 {
					return at.failed(i, errNoFields)
				}
				if err := lines.add(record); err != nil {
					return err
				}
			}
			at.seen += int64(len(chunk))
			return lines.flush()
		}))
		if err != nil {
			return err
		}
		return lines.flush() // the header of an empty partition
	}).toFiles(ctx, dir, ".csv")
}

// csvLines writes records as CSV.
type csvLines struct {
	dst  io.Writer
	csv  *csv.Writer
	text bytes.Buffer // what csv has written since the last flush
	end  string
}

func newCSVLines(dst io.Writer, o CSVSaveOptions) *csvLines {
	l := &csvLines{dst: dst, end: "\n"}
	l.csv = csv.NewWriter(&l.text)
	if l.csv.UseCRLF = o.CRLF; o.CRLF {
		l.end = "\r\n"
	}
	if o.Comma != 0 {
		l.csv.Comma = o.Comma
	}
	return l
}

func (l *csvLines) add(record []string) error {
	if len(record) == 1 && record[0] == "" { // encoding/csv makes an empty line of it, which readers pass over
		l.csv.Flush()
		l.text.WriteString(`""` + l.end)
		return l.csv.Error()
	}
	return l.csv.Write(record)
}

func (l *csvLines) flush() error {
	l.csv.Flush()
	if err := l.csv.Error(); err != nil {
		return err
	}
	_, err := l.text.WriteTo(l.dst)
	return err
}
