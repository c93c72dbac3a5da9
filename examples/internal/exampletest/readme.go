package exampletest

import (
	"os"
	"strings"
	"testing"
)

// Commands returns the command lines of an example's README that have their output below them, and
// those outputs: blocks that begin with "$ go run ./examples/NAME". Each line's arguments are the words
// behind the name.
func Commands(t *testing.T, name string) (args [][]string, outputs []string) {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	begin := "```\n$ go run ./examples/" + name
	for _, block := range strings.Split(string(readme), begin)[1:] {
		line, rest, _ := strings.Cut(block, "\n")
		output, _, ok := strings.Cut(rest, "```")
		if !ok {
			t.Fatalf("README.md: the block of %q has no end", line)
		}
		args = append(args, strings.Fields(line))
		outputs = append(outputs, output)
	}
	return args, outputs
}
