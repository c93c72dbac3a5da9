// Command openlog opens a bbolt file, reads it once and ends: what a restart of a program is compared with.
package main

import (
	"fmt"
	"os"

	"go.etcd.io/bbolt"
)

func main() {
	if err := open(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "openlog:", err)
		os.Exit(1)
	}
}

func open(path string) error {
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		return err
	}
	read := db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
			b.Stats()
			return nil
		})
	})
	if err := db.Close(); err != nil {
		return err
	}
	return read
}
