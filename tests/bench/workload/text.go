package workload

import (
	"fmt"
	"io"
)

// WordsPerLine is the number of words in every line of text.
const WordsPerLine = 14

// The words that grep looks for. They are upper case and so not in the dictionary.
const (
	ErrorWord = "ERROR" // in one line of a thousand
	WarnWord  = "WARN"  // in one line of ten
)

// TextOptions say how skewed the text is. The zero value is the text the expected answers hold for.
type TextOptions struct {
	// Exponent is the exponent of the word ranks, 1 or 2. 0 means 1.
	Exponent int
	// Hot makes word 0 of every second line the most frequent word, unless it is ErrorWord.
	Hot bool
}

// Validate returns a *ZipfError if the exponent is not 0, 1 or 2.
func (o TextOptions) Validate() error {
	if o.Exponent < 0 || o.Exponent > 2 {
		return &ZipfError{Items: DictionaryWords, Exponent: o.Exponent}
	}
	return nil
}

// Text is lines of words with Zipf ranks (W1): input of grep, word count and top-k.
type Text struct {
	stream Stream
	words  *Dictionary
	ranks  *Zipf
	hot    bool
}

// NewText returns the text of seed.
//
// Errors: what o.Validate reports.
func NewText(seed uint64, o TextOptions) (*Text, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	ranks, err := NewZipf(DictionaryWords, max(o.Exponent, 1))
	if err != nil {
		return nil, err
	}
	return &Text{
		stream: NewStream(seed, StreamText),
		words:  NewDictionary(seed),
		ranks:  ranks,
		hot:    o.Hot,
	}, nil
}

// Dictionary returns the words of the text.
func (t *Text) Dictionary() *Dictionary { return t.words }

// Ranks returns the dictionary ranks drawn for line i, before any word of it is replaced.
func (t *Text) Ranks(i int) [WordsPerLine]int {
	var ranks [WordsPerLine]int
	for j := range ranks {
		ranks[j] = t.ranks.Rank(t.stream.U(uint64(i), uint64(j)))
	}
	return ranks
}

// Line returns line i, without a line end.
func (t *Text) Line(i int) string { return string(t.AppendLine(nil, i)) }

// AppendLine returns dst with line i added, without a line end.
func (t *Text) AppendLine(dst []byte, i int) []byte {
	record := uint64(i)
	for j := range uint64(WordsPerLine) {
		if j > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, t.word(record, j)...)
	}
	return dst
}

// word returns word j of line i.
func (t *Text) word(i, j uint64) string {
	switch j {
	case 0:
		if Below(t.stream.U(i, 14), 1000) == 0 {
			return ErrorWord
		}
		if t.hot && Below(t.stream.U(i, 16), 2) == 0 {
			return t.words.Word(0)
		}
	case 1:
		if Below(t.stream.U(i, 15), 10) == 0 {
			return WarnWord
		}
	}
	return t.words.Word(t.ranks.Rank(t.stream.U(i, j)))
}

// Write writes lines from to to-1 to w, each ended by a line feed.
//
// Cost: one write for each 64 KB or so.
// Errors: *RangeError unless 0 <= from <= to; what w reports, wrapped.
func (t *Text) Write(w io.Writer, from, to int) error {
	if err := checkRange(from, to); err != nil {
		return err
	}
	const chunk = 64 << 10
	buf := make([]byte, 0, chunk+1024)
	for i := from; i < to; i++ {
		buf = append(t.AppendLine(buf, i), '\n')
		if len(buf) < chunk && i < to-1 {
			continue
		}
		if _, err := w.Write(buf); err != nil {
			return fmt.Errorf("write text up to line %d: %w", i, err)
		}
		buf = buf[:0]
	}
	return nil
}

// WriteText writes lines from to to-1 of the plain text of seed to w, each ended by a line feed.
//
// Cost: builds the dictionary each time; for many ranges keep a Text and call its Write.
// Errors: as Text.Write.
func WriteText(w io.Writer, seed uint64, from, to int) error {
	t, err := NewText(seed, TextOptions{})
	if err != nil {
		return err
	}
	return t.Write(w, from, to)
}
