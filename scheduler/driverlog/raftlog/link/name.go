package link

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

// Bounds of what a hello holds, in bytes.
const (
	maxName     = 64
	maxProtocol = 32
	maxBuild    = 128
	clusterSize = 32 // hex digits of a cluster's id
	suffixSize  = 16 // hex digits at the end of a node's id
)

// CheckBuild returns an error for what is not the name of a build: at most 128 bytes of text, without control characters.
func CheckBuild(build string) error {
	if !isText(build, maxBuild) {
		return fmt.Errorf("build %.80q, of %d bytes: want at most %d bytes of text", build, len(build), maxBuild)
	}
	return nil
}

// CheckName returns an error for what is not the name of a node: letters, digits, '-' and '.', at most 64, the first and the last a
// letter or digit.
func CheckName(name string) error {
	if !isName(name, maxName) {
		return fmt.Errorf("node name %.80q: want at most %d letters, digits, '-' and '.', the first and last a letter or digit", name, maxName)
	}
	return nil
}

// CheckID returns an error for what is not the id of a node: a name, '-' and 16 hex digits.
func CheckID(id string) error {
	if _, ok := nameOf(id); !ok {
		return fmt.Errorf("node id %.100q: want a name, '-' and %d hex digits", id, suffixSize)
	}
	return nil
}

// CheckCluster returns an error for what is not the id of a cluster: 32 hex digits.
func CheckCluster(id string) error {
	if len(id) != clusterSize || !isHex(id) {
		return fmt.Errorf("cluster id %.80q: want %d hex digits", id, clusterSize)
	}
	return nil
}

// newID returns a fresh id for a node of this name.
func newID(name string) string {
	var b [suffixSize / 2]byte
	_, _ = rand.Read(b[:]) // never fails
	return name + "-" + hex.EncodeToString(b[:])
}

// nameOf returns the name within a node's id.
func nameOf(id string) (name string, ok bool) {
	at := len(id) - suffixSize - 1
	if at < 1 || id[at] != '-' || !isHex(id[at+1:]) || !isName(id[:at], maxName) {
		return "", false
	}
	return id[:at], true
}

func isName(s string, most int) bool {
	if s == "" || len(s) > most || !isAlphanumeric(s[0]) || !isAlphanumeric(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isAlphanumeric(c) && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// isHex says whether s has only the digits that ids are written with, which are lower case.
func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
