package workload

// A TextAnswer is what grep and word count must find in a text (ErrorWord and WarnWord are words).
type TextAnswer struct {
	Bytes  int    // length of the file
	Digest string // first 16 hex digits of the SHA-256 of the file
	Errors int    // lines with ErrorWord
	Warns  int    // lines with WarnWord
	Counts WordsAnswer
}

// TextWant returns the answer for the first size lines of DefaultSeed without skew, or false if it
// is not known.
func TextWant(size Size) (TextAnswer, bool) {
	switch size {
	case XS:
		return TextAnswer{
			Bytes: 97_850, Digest: "96c4b2a0dd6a5f44",
			Errors: 1, Warns: 93,
			Counts: WordsAnswer{Words: 14_000, Distinct: 5_646, Top: [5]WordCount{
				{"aaaa", 1125},
				{"aaab", 599},
				{"aaac", 345},
				{"aaad", 301},
				{"aaae", 209},
			}},
		}, true
	case S:
		return TextAnswer{
			Bytes: 9_753_777, Digest: "d81b228716900685",
			Errors: 94, Warns: 10_028,
			Counts: WordsAnswer{Words: 1_400_000, Distinct: 88_062, Top: [5]WordCount{
				{"aaaa", 114936},
				{"aaab", 57684},
				{"aaac", 38058},
				{"aaad", 28646},
				{"aaae", 22956},
			}},
		}, true
	case M:
		return TextAnswer{
			Bytes: 97_534_081, Digest: "e534875a1ff9b4d3",
			Errors: 967, Warns: 99_785,
			Counts: WordsAnswer{Words: 14_000_000, Distinct: 100_002, Top: [5]WordCount{
				{"aaaa", 1149371},
				{"aaab", 575401},
				{"aaac", 382795},
				{"aaad", 287661},
				{"aaae", 229737},
			}},
		}, true
	}
	return TextAnswer{}, false
}

// A TextWindowAnswer is what a windowed word count must find in one window.
type TextWindowAnswer struct {
	First, Last int // the batches it covers, both included
	Counts      WordsAnswer
	Hundredth   WordCount // the last of the hundred most frequent, ties by word ascending
}

// Lines returns the first line of the window and the line after its last.
func (a TextWindowAnswer) Lines() (from, to int) {
	return a.First * TextPerSecond, (a.Last + 1) * TextPerSecond
}

// TextWindowWant returns the answer for the window of 30 batches that ends with batch 99 of size M.
func TextWindowWant() TextWindowAnswer {
	return TextWindowAnswer{
		First: 70, Last: 99,
		Counts: WordsAnswer{Words: 4_200_000, Distinct: 99_404, Top: [5]WordCount{
			{"aaaa", 344847},
			{"aaab", 172275},
			{"aaac", 114484},
			{"aaad", 86808},
			{"aaae", 68699},
		}},
		Hundredth: WordCount{"aadt", 3445},
	}
}
