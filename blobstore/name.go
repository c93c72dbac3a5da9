package blobstore

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of names.
const (
	// MaxName bounds the bytes of a name.
	MaxName = 512
	// MaxElement bounds the bytes of what stands between two slashes.
	MaxElement = 200
)

// Reserved begins the first element of the names that stores keep for themselves. They cannot be written, and are not listed.
const Reserved = ".leat-"

// CheckName returns a *NameError for what no store takes as a name. A name is valid UTF-8 of at most MaxName bytes: elements with
// a slash between them, none of them empty, "." or "..", longer than MaxElement bytes, or with a control character or a
// backslash in it. The first must not begin with Reserved.
func CheckName(name string) error {
	bad := func(reason string, args ...any) error {
		return &NameError{Name: name, Reason: fmt.Sprintf(reason, args...)}
	}
	switch {
	case name == "":
		return bad("is empty")
	case len(name) > MaxName:
		return bad("has %d bytes, at most %d are allowed", len(name), MaxName)
	case !utf8.ValidString(name):
		return bad("is not UTF-8")
	case strings.HasPrefix(name, Reserved):
		return bad("is reserved for the store")
	}
	for _, r := range name {
		if unicode.IsControl(r) || r == '\\' || r == '\ufffe' || r == '\uffff' {
			return bad("holds %q", r)
		}
	}
	for element := range strings.SplitSeq(name, "/") {
		switch {
		case element == "" || element == "." || element == "..":
			return bad("has an element %q", element)
		case len(element) > MaxElement:
			return bad("has an element of %d bytes, at most %d are allowed", len(element), MaxElement)
		}
	}
	return nil
}

// CheckNames is CheckName for several; it returns the first error.
func CheckNames(names []string) error {
	for _, name := range names {
		if err := CheckName(name); err != nil {
			return err
		}
	}
	return nil
}

// CheckData returns ErrTooLarge, in an *Error, for more bytes than a blob of one piece may have.
func CheckData(op, name string, data []byte) error {
	if len(data) > MaxData {
		return &Error{Op: op, Name: name, Err: fmt.Errorf("%w: %d bytes", ErrTooLarge, len(data))}
	}
	return nil
}
