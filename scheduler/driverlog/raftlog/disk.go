package raftlog

import "github.com/hashicorp/raft"

// passedOn is a disk whose writes somebody passes on, or not.
type passedOn struct {
	disk
	pass func(write func() error) error
}

// StoreLogs writes entries.
func (p passedOn) StoreLogs(logs []*raft.Log) error {
	return p.pass(func() error { return p.disk.StoreLogs(logs) })
}

// StoreLog writes an entry.
func (p passedOn) StoreLog(log *raft.Log) error {
	return p.pass(func() error { return p.disk.StoreLog(log) })
}

// DeleteRange removes entries.
func (p passedOn) DeleteRange(from, to uint64) error {
	return p.pass(func() error { return p.disk.DeleteRange(from, to) })
}

// Set writes a value.
func (p passedOn) Set(key, value []byte) error {
	return p.pass(func() error { return p.disk.Set(key, value) })
}

// SetUint64 writes a number.
func (p passedOn) SetUint64(key []byte, value uint64) error {
	return p.pass(func() error { return p.disk.SetUint64(key, value) })
}
