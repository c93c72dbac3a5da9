package faultdisk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/leat-io/leat/streamingcontext/streamtest/faultdisk"
	"github.com/leat-io/leat/streamingcontext/streamtest/proctest"
)

// commit commits one number after the other to a file of bbolt, and says so, until something is wrong.
func commit(path string) {
	db, err := bbolt.Open(path, 0o644, &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, Timeout: time.Second})
	for i := 0; err == nil; i++ {
		err = db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("numbers"))
			if err != nil {
				return err
			}
			return b.Put(fmt.Appendf(nil, "%08d", i), make([]byte, 1000)) // the file grows, and what is mapped of it
		})
		if err == nil {
			fmt.Println("committed", i)
		}
	}
	fmt.Println("wrong", err)
}

// bbolt maps its file into memory, locks it and flushes it: it commits as on any disk, waits while that hangs, and has its error. What it said was
// committed is in the real file.
func TestBoltOnADiskThatGoesBad(t *testing.T) {
	disk, real, ok := mount(t)
	if !ok {
		return
	}
	lines := make(chan string, 1<<16)
	start := func() *proctest.Process {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		p, err := proctest.Start(proctest.Options{Path: self, Args: []string{"bolt", filepath.Join(disk.Dir(), "db")}, Err: os.Stderr,
			Line: func(_ time.Time, line string) { lines <- line }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			disk.Set(faultdisk.Fault{}) // it cannot end while a call hangs
			p.Kill()
		})
		return p
	}
	last := -1
	await := func(n int) {
		t.Helper()
		for last < n {
			if line := <-lines; !committed(line, &last) {
				t.Fatalf("bbolt does not work on the disk: %q", line)
			}
		}
	}
	first := start()
	await(300)

	// The lock of the file is one.
	locked := start()
	if line := awaitWrong(lines, &last); !strings.Contains(line, "timeout") {
		t.Errorf("a second program that opens the file: %q", line)
	}
	locked.Kill()

	// While the disk hangs nothing is committed, and the process cannot be ended.
	disk.Set(faultdisk.Hung())
	if err := disk.AwaitHeld(t.Context()); err != nil {
		t.Fatal(err)
	}
	killed := make(chan struct{})
	go func() { first.Kill(); close(killed) }()
	select {
	case <-killed:
		t.Error("a process is gone that hangs in a write")
	case <-time.After(20 * time.Millisecond):
	}
	disk.Set(faultdisk.Fault{})
	<-killed
	for len(lines) > 0 {
		committed(<-lines, &last)
	}
	commits(t, real, last)

	last = -1
	second := start()
	await(10)
	disk.Set(faultdisk.FlushErrors())
	if line := awaitWrong(lines, &last); !strings.Contains(line, syscall.EIO.Error()) {
		t.Errorf("bbolt on a disk whose flushes fail: %q", line)
	}
	disk.Set(faultdisk.Fault{})
	second.Kill() // it may still have the lock

	last = -1
	start()
	await(10)
	disk.Set(faultdisk.Full())
	if line := awaitWrong(lines, &last); !strings.Contains(line, syscall.ENOSPC.Error()) {
		t.Errorf("bbolt on a full disk: %q", line)
	}
	disk.Set(faultdisk.Fault{})
	commits(t, real, last)
}

// committed takes note of what was committed; false for another line.
func committed(line string, last *int) bool {
	n, err := fmt.Sscanf(line, "committed %d", last)
	return err == nil && n == 1
}

// awaitWrong returns the line in which a program says what is wrong.
func awaitWrong(lines <-chan string, last *int) string {
	for line := range lines {
		if !committed(line, last) {
			return line
		}
	}
	return ""
}

// commits wants all numbers up to one in the real file.
func commits(t *testing.T, real string, upTo int) {
	t.Helper()
	db, err := bbolt.Open(filepath.Join(real, "db"), 0o644, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *bbolt.Tx) error {
		for i := range upTo + 1 {
			if b := tx.Bucket([]byte("numbers")); b == nil || len(b.Get(fmt.Appendf(nil, "%08d", i))) != 1000 {
				return fmt.Errorf("%d was committed and is not in the file", i)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
