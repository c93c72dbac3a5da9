package codec

import "testing"

func TestReach(t *testing.T) {
	for name, c := range map[string]struct {
		spans []Span // the newest first
		back  int
		ok    bool
	}{
		"all":                          {[]Span{{10, 0, 10}, {10, 0, 10}}, 0, true},
		"empty":                        {[]Span{{0, 0, 0}}, 0, true},
		"none":                         {nil, 0, false},
		"slices that come round":       {[]Span{{10, 0, 4}, {10, 8, 10}, {10, 4, 8}, {10, 0, 4}}, 2, true},
		"a gap":                        {[]Span{{10, 0, 4}, {10, 8, 10}}, 0, false},
		"what came later is no gap":    {[]Span{{14, 0, 4}, {12, 6, 10}, {8, 4, 6}, {8, 0, 4}}, 2, true},
		"the end of what was":          {[]Span{{14, 0, 4}, {12, 8, 12}, {12, 4, 8}}, 2, true},
		"after nothing":                {[]Span{{3, 1, 2}, {0, 0, 0}}, 1, true},
		"overlapping":                  {[]Span{{10, 2, 7}, {10, 0, 3}, {10, 6, 10}}, 2, true},
		"more entries before":          {[]Span{{10, 0, 4}, {12, 4, 12}}, 0, false},
		"a slice behind the last":      {[]Span{{10, 0, 11}}, 0, false},
		"a slice from behind its end":  {[]Span{{10, 5, 4}}, 0, false},
		"an empty slice covers nought": {[]Span{{10, 0, 0}, {10, 0, 10}}, 1, true},
	} {
		if back, ok := Reach(c.spans); back != c.back || ok != c.ok {
			t.Errorf("%s: %d, %t, want %d, %t", name, back, ok, c.back, c.ok)
		}
	}
}
