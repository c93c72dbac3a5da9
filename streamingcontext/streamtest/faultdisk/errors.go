package faultdisk

// An UnavailableError says why this machine, or this user of it, can mount no disk.
type UnavailableError struct {
	Reason string
	Err    error // nil where the reason says all
}

// Error returns the reason and its cause.
func (e *UnavailableError) Error() string {
	s := "a disk that fails needs FUSE: " + e.Reason
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }
