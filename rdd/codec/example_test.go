package codec_test

import (
	"errors"
	"fmt"

	"github.com/leat-io/leat/rdd/codec"
)

type Count struct {
	Word string
	N    int64
}

func Example() {
	c, err := codec.For[Count]()
	if err != nil {
		fmt.Println(err)
		return
	}
	frame, err := c.Append(nil, []Count{{"to", 2}, {"be", 2}, {"or", 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := c.Decode(frame)
	fmt.Println(c.Name(), len(frame), rows, err)
	// Output: struct<Word:string,N:int64> 46 [{to 2} {be 2} {or 1}] <nil>
}

func ExampleFor() {
	type Job struct {
		Name  string
		Steps []struct{ Done chan bool }
	}
	_, err := codec.For[Job]()
	fmt.Println(err)
	// Output: encode type chan bool at Steps[].Done: a chan has no meaning in another process
}

func ExampleCodec_Append() {
	c, _ := codec.For[bool]()
	frame, err := c.Append([]byte("block:"), []bool{true, false, true})
	fmt.Printf("%q %v\n", frame[:9], err)
	fmt.Printf("% x\n", frame[6:])
	// Output:
	// "block:LC\x01" <nil>
	// 4c 43 01 00 02 71 63 aa 03 05 f9 7c 98 78
}

func ExampleCodec_Decode() {
	c, _ := codec.For[string]()
	frame, _ := c.Append(nil, []string{"a", "b"})
	_, err := c.Decode(frame[:len(frame)-1])
	fmt.Println(errors.Is(err, codec.ErrCorrupt))
	// Output: true
}

func ExampleCodec_DecodeAppend() {
	c, _ := codec.For[string]()
	one, _ := c.Append(nil, []string{"a", "b"})
	two, _ := c.Append(nil, []string{"c"})
	var rows []string
	for _, frame := range [][]byte{one, two} {
		var err error
		if rows, err = c.DecodeAppend(rows, frame); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(rows)
	// Output: [a b c]
}

func ExampleCodec_Name() {
	c, _ := codec.For[map[string][]*Count]()
	fmt.Println(c.Name())
	// Output: map<string,list<optional<struct<Word:string,N:int64>>>>
}

func ExampleCloneFunc() {
	clone := codec.CloneFunc[[]int]()
	row := []int{1, 2}
	other := clone(row)
	other[0] = 9
	fmt.Println(row, other, codec.CloneFunc[Count]() == nil)
	// Output: [1 2] [9 2] true
}
