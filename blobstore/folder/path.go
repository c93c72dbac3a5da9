package folder

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/leat-io/leat/blobstore"
)

// Names in the root that no blob can have.
const (
	tmpFolder = blobstore.Reserved + "tmp"
	lockFile  = blobstore.Reserved + "lock"
)

// maxFileName is what file systems take.
const maxFileName = 255

const hexDigits = "0123456789ABCDEF"

// fileName returns the name of the file or folder that stands for an element of a name.
func fileName(element string) string {
	if !strings.ContainsAny(element, `%:*?"<>|`) && !strings.HasSuffix(element, ".") && !strings.HasSuffix(element, " ") {
		return element
	}
	var b strings.Builder
	for i := range len(element) {
		c := element[i]
		last := i == len(element)-1 && (c == '.' || c == ' ') // Windows drops these
		if last || strings.IndexByte(`%:*?"<>|`, c) >= 0 {
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// elementOf returns the element that a file's name stands for; ok is false if it stands for none.
func elementOf(file string) (element string, ok bool) {
	if strings.IndexByte(file, '%') < 0 {
		element = file
	} else {
		var b strings.Builder
		for i := 0; i < len(file); i++ {
			if file[i] != '%' {
				b.WriteByte(file[i])
				continue
			}
			if i+2 >= len(file) {
				return "", false
			}
			hi, lo := strings.IndexByte(hexDigits, file[i+1]), strings.IndexByte(hexDigits, file[i+2])
			if hi < 0 || lo < 0 {
				return "", false
			}
			b.WriteByte(byte(hi<<4 | lo))
			i += 2
		}
		element = b.String()
	}
	return element, fileName(element) == file
}

// path returns the folder and the file of a name.
//
// Errors: *blobstore.NameError.
func (s *Store) path(name string) (dir, file string, err error) {
	if err := blobstore.CheckName(name); err != nil {
		return "", "", err
	}
	dir = s.dir
	elements := strings.Split(name, "/")
	for i, element := range elements {
		f := fileName(element)
		if len(f) > maxFileName {
			return "", "", &blobstore.NameError{Name: name, Reason: fmt.Sprintf("makes a file name of %d bytes, at most %d are allowed", len(f), maxFileName)}
		}
		if i < len(elements)-1 {
			dir = filepath.Join(dir, f)
		} else {
			file = filepath.Join(dir, f)
		}
	}
	return dir, file, nil
}
