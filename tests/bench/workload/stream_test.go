package workload_test

import (
	"fmt"
	"testing"

	"github.com/leat-io/leat/tests/bench/workload"
)

func TestStream(t *testing.T) {
	tests := []struct {
		name      string
		got, want uint64
	}{
		{"key(2)", workload.Key(42, 2), 0x47526757130f9f52},
		{"u(2,0,0)", workload.NewStream(42, 2).U(0, 0), 0x0018a66858653d4b},
		{"u(2,0,1)", workload.NewStream(42, 2).U(0, 1), 0xcb2f56b827242e3d},
		{"u(2,1,0)", workload.NewStream(42, 2).U(1, 0), 0x0231da5442bfba25},
		{"u(5,49,3)", workload.NewStream(42, 5).U(49, 3), 0x3089224a8ab01b94},
		{"below everything is the high word", workload.Below(1<<63, 1<<63), 1 << 62},
		{"below one", workload.Below(^uint64(0), 1), 0},
		{"below none", workload.Below(^uint64(0), 0), 0},
		{"largest word stays below", workload.Below(^uint64(0), 1000), 999},
		{"seed 43 gives another key", b(workload.Key(43, 2) != workload.Key(42, 2)), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("got %016x, want %016x", tt.got, tt.want)
			}
		})
	}
}

// b returns 1 for true.
func b(ok bool) uint64 {
	if ok {
		return 1
	}
	return 0
}

func ExampleStream_U() {
	s := workload.NewStream(workload.DefaultSeed, workload.StreamText)
	fmt.Printf("%016x\n", s.U(0, 0))
	fmt.Printf("%016x\n", s.U(0, 1))
	fmt.Printf("%016x\n", s.U(1, 0))
	// Output:
	// 0018a66858653d4b
	// cb2f56b827242e3d
	// 0231da5442bfba25
}

func ExampleBelow() {
	s := workload.NewStream(workload.DefaultSeed, workload.StreamPairs)
	for i := range uint64(5) {
		fmt.Print(workload.Below(s.U(i, 1), 10), " ")
	}
	fmt.Println()
	// Output:
	// 2 8 8 7 8
}
