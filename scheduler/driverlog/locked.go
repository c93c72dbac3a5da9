package driverlog

import (
	"fmt"
	"time"
)

// A Holder is the process that has the files of a log, as its lock file names it.
type Holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Command string    `json:"command"` // base name of the program
	Since   time.Time `json:"since"`   // when it opened the log
}

// A LockedError says that another process has the files of a log.
type LockedError struct {
	Path   string // the log
	Holder Holder // who has it; zero where that could not be read
}

// Error returns the log and its owner.
func (e *LockedError) Error() string {
	h := e.Holder
	if h == (Holder{}) {
		return fmt.Sprintf("driver log %s is in use by another owner", e.Path)
	}
	return fmt.Sprintf("driver log %s is in use by %s, process %d on %s, since %s",
		e.Path, h.Command, h.PID, h.Host, h.Since.Format(time.RFC3339))
}
