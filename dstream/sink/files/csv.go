package files

import (
	"bytes"
	"encoding"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"unicode/utf8"
)

// CSVOptions say how CSV is written. The zero value is commas and no header.
type CSVOptions struct {
	// Comma is the character between fields; zero means a comma.
	Comma rune
	// Header, if not empty, is the first record of each file. Read leaves it out.
	Header []string
}

// Validate returns an error naming the field that has no meaning.
func (o CSVOptions) Validate() error {
	switch c := o.Comma; {
	case c == '"', c == '\r', c == '\n', c < 0, c == utf8.RuneError, c != 0 && !utf8.ValidRune(c):
		return fmt.Errorf("%w: files.CSVOptions.Comma is %q", ErrFormat, c)
	}
	return nil
}

// String returns the options in words.
func (o CSVOptions) String() string { return fmt.Sprintf("comma %q, header %q", o.Comma, o.Header) }

// CSV returns a sink that writes each row as a record of CSV. A row is a []string, or a struct whose exported fields are
// strings, booleans, numbers or encoding.TextMarshalers: the fields in the order of their declaration.
//
// Errors: another T is an ErrFormat of the first call. A row without fields, or with a newline in one, is a *RowError.
// Source: RFC 4180; package encoding/csv.
func CSV[T any](dir string) *Sink[T] { return New(dir, Options[T]{Format: CSVFormat[T](CSVOptions{})}) }

// CSVFormat returns the format of CSV, in files that end with .csv.
func CSVFormat[T any](o CSVOptions) Format[T] {
	o.Header = append([]string(nil), o.Header...)
	return Format[T]{Name: "csv", Suffix: ".csv", Lines: true, NewEncoder: func(w io.Writer) (Encoder[T], error) {
		if err := o.Validate(); err != nil {
			return nil, err
		}
		fields, err := fieldsOf[T]()
		if err != nil {
			return nil, err
		}
		e := &csvEncoder[T]{w: w, fields: fields}
		e.csv = csv.NewWriter(&e.buf)
		if o.Comma != 0 {
			e.csv.Comma = o.Comma
		}
		if len(o.Header) == 0 {
			return e, nil
		}
		if err := e.add(o.Header); err != nil {
			return nil, fmt.Errorf("%w: files.CSVOptions.Header: %w", ErrFormat, err)
		}
		return e, e.flush()
	}}
}

// errNoFields is the fault of a record that CSV has no form for.
var errNoFields = errors.New("a record of no fields cannot be told from an empty line")

type csvEncoder[T any] struct {
	w      io.Writer
	buf    bytes.Buffer
	csv    *csv.Writer
	fields func(row *T, record []string) ([]string, error)
	record []string
}

func (e *csvEncoder[T]) Encode(rows []T) (int, error) {
	for i := range rows {
		record, err := e.fields(&rows[i], e.record[:0])
		if err == nil {
			err = e.add(record)
		}
		if err != nil {
			return i, err
		}
		e.record = record[:0]
	}
	return len(rows), e.flush()
}

func (e *csvEncoder[T]) add(record []string) error {
	if len(record) == 0 {
		return errNoFields
	}
	for _, field := range record {
		for i := range len(field) {
			if field[i] == '\n' {
				return errNewline
			}
		}
	}
	if len(record) == 1 && record[0] == "" { // encoding/csv makes an empty line of it, which readers pass over
		e.csv.Flush()
		e.buf.WriteString("\"\"\n")
		return e.csv.Error()
	}
	return e.csv.Write(record)
}

func (e *csvEncoder[T]) flush() error {
	e.csv.Flush()
	if err := e.csv.Error(); err != nil {
		return err
	}
	_, err := e.buf.WriteTo(e.w)
	return err
}

func (e *csvEncoder[T]) Close() error { return nil }

// fieldsOf returns what makes a record of a T.
func fieldsOf[T any]() (func(row *T, record []string) ([]string, error), error) {
	var zero T
	if _, ok := any(zero).([]string); ok {
		return func(row *T, record []string) ([]string, error) {
			return append(record, *any(row).(*[]string)...), nil
		}, nil
	}
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%w: CSV of %v: want []string or a struct", ErrFormat, t)
	}
	var at []int
	var columns []func(v reflect.Value) (string, error)
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		column := columnOf(f.Type)
		if column == nil {
			return nil, fmt.Errorf("%w: CSV of %v: field %s is a %v", ErrFormat, t, f.Name, f.Type)
		}
		at, columns = append(at, i), append(columns, column)
	}
	if len(at) == 0 {
		return nil, fmt.Errorf("%w: CSV of %v: no exported field", ErrFormat, t)
	}
	return func(row *T, record []string) ([]string, error) {
		v := reflect.ValueOf(row).Elem()
		for i, column := range columns {
			field, err := column(v.Field(at[i]))
			if err != nil {
				return nil, err
			}
			record = append(record, field)
		}
		return record, nil
	}, nil
}

// columnOf returns what makes a field of a value that can be addressed, or nil.
func columnOf(t reflect.Type) func(v reflect.Value) (string, error) {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextMarshaler]()) && t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
		return func(v reflect.Value) (string, error) {
			text, err := v.Addr().Interface().(encoding.TextMarshaler).MarshalText()
			return string(text), err
		}
	}
	switch t.Kind() {
	case reflect.String:
		return func(v reflect.Value) (string, error) { return v.String(), nil }
	case reflect.Bool:
		return func(v reflect.Value) (string, error) { return strconv.FormatBool(v.Bool()), nil }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(v reflect.Value) (string, error) { return strconv.FormatInt(v.Int(), 10), nil }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(v reflect.Value) (string, error) { return strconv.FormatUint(v.Uint(), 10), nil }
	case reflect.Float32, reflect.Float64:
		return func(v reflect.Value) (string, error) {
			return strconv.FormatFloat(v.Float(), 'g', -1, t.Bits()), nil
		}
	}
	return nil
}
