package workload

// DictionaryWords is the number of words in the dictionary.
const DictionaryWords = 100_000

// plainWords is how many words, the most frequent ones, are a bare suffix.
const plainWords = 100

// A Dictionary is the words that lines of text are made of (W1). Word k ends in k written in base
// 26 with four letters, so all words differ; all but the first hundred have one to six letters
// before that.
type Dictionary struct {
	text string   // all words, end to end
	ends []uint32 // word k is text[ends[k]:ends[k+1]]
}

// NewDictionary returns the dictionary of seed.
func NewDictionary(seed uint64) *Dictionary {
	s := NewStream(seed, StreamDictionary)
	text := make([]byte, 0, 8*DictionaryWords)
	ends := make([]uint32, 1, DictionaryWords+1)
	for k := range uint64(DictionaryWords) {
		if k >= plainWords {
			for m := range 1 + Below(s.U(k, 0), 6) {
				text = append(text, letter(s.U(k, 1+m)))
			}
		}
		text = append(text,
			'a'+byte(k/(26*26*26)), 'a'+byte(k/(26*26)%26), 'a'+byte(k/26%26), 'a'+byte(k%26))
		ends = append(ends, uint32(len(text)))
	}
	return &Dictionary{text: string(text), ends: ends}
}

// Len returns the number of words.
func (d *Dictionary) Len() int { return len(d.ends) - 1 }

// Word returns word k, the most frequent being word 0.
//
// Shape: 0 <= k < Len().
func (d *Dictionary) Word(k int) string { return d.text[d.ends[k]:d.ends[k+1]] }
