package codec

// Incremental is implemented by pointers T to records that change little from one to the next and number their entries, so that
// one can be written as what it has that an earlier one had not.
//
// A record is kept as files, each of which is made by one WriteSince: all that changed since the record of the file before, and,
// whatever changed, one slice of its entries, which goes round. Where the slices of the newest files are all entries, files
// before them are not needed.
//
//	file   entries of the record     changed    slice
//	1      0 ........... 999         all        0 - 999
//	2      0 ........... 999         17, 801    0 - 99
//	3      0 ........... 1003        4, 1000-3  100 - 203
//
// Methods are called with a nil T as well: as the receiver of Restored, and as a base that is not there.
type Incremental[T any] interface {
	// WriteSince puts the frames of a file that follows that of base, and returns what the file holds. From is where the slice
	// of base's file ended. Where base is nil or no earlier one of the same record, or where that is cheaper, the file holds all
	// entries. Put is called from the goroutine of the call; a frame is put's until it returns.
	WriteSince(base T, from int64, put func(frame []byte) error) (Span, error)
	// Restored returns the record that was written last to files, which are given from the oldest that is needed to the newest.
	// Read calls yield with each frame of a file in order; a frame is yield's until it returns. Each file is read once.
	//
	// Errors: ErrCorrupt for frames that WriteSince does not write.
	Restored(files int, read func(file int, yield func(frame []byte) error) error) (T, error)
}

// Span is which entries a file of an Incremental holds whatever changed: From up to To, of so many as the record has.
type Span struct {
	Entries  int64
	From, To int64
}

// All reports whether the file holds every entry, so that none before it is needed.
func (s Span) All() bool { return s.From == 0 && s.To == s.Entries }

// Valid reports whether the numbers can be those of a file.
func (s Span) Valid() bool { return 0 <= s.From && s.From <= s.To && s.To <= s.Entries }

// Reach returns how many of the files before the newest one are needed with it: spans are those of the files, the newest first. It
// returns false if the slices of all of them leave out an entry.
//
// Cost: a step for each pair of spans that are needed, at worst.
func Reach(spans []Span) (back int, ok bool) {
	var covered []Span // disjoint and ascending, neighbours joined
	for i, s := range spans {
		if !s.Valid() || i > 0 && s.Entries > spans[i-1].Entries {
			return 0, false
		}
		covered = join(covered, s)
		// Entries that came later are in the files since, among what changed.
		if s.Entries == 0 || len(covered) > 0 && covered[0].From == 0 && covered[0].To >= s.Entries {
			return i, true
		}
	}
	return 0, false
}

// join returns disjoint ascending slices with one more.
func join(covered []Span, s Span) []Span {
	if s.From == s.To {
		return covered
	}
	out := make([]Span, 0, len(covered)+1)
	for _, c := range covered {
		switch {
		case c.To < s.From:
			out = append(out, c)
		case s.To < c.From:
			out = append(out, s)
			s = c
		default:
			s.From, s.To = min(s.From, c.From), max(s.To, c.To)
		}
	}
	return append(out, s)
}
