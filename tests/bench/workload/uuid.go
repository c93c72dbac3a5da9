package workload

const hexDigits = "0123456789abcdef"

// UUID returns the identifier of record i of a stream: its first two draws as 32 lower-case hex
// digits, with dashes after digits 8, 12, 16 and 20. No version bits are set.
func UUID(s Stream, i uint64) string {
	text := make([]byte, 0, 36)
	for digit := range 32 {
		switch digit {
		case 8, 12, 16, 20:
			text = append(text, '-')
		}
		word := s.U(i, uint64(digit/16))
		text = append(text, hexDigits[word>>(60-4*(digit%16))&15])
	}
	return string(text)
}
