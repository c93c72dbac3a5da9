package queue_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"weak"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/leat-io/leat/receivers/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func Example() {
	var q queue.Queue[string]
	q.Push("a", "b")
	q.Push("c")
	first, _ := q.Pop()
	fmt.Println(first, q.Len())
	fmt.Println(q.PopAll())
	_, ok := q.Pop()
	fmt.Println(ok)
	// Output:
	// a 2
	// [b c]
	// false
}

func TestPop(t *testing.T) {
	t.Run("I1 one at a time", func(t *testing.T) {
		var q queue.Queue[int]
		q.Push(1, 2, 3)
		var got []int
		for {
			v, ok := q.Pop()
			if !ok {
				break
			}
			got = append(got, v)
		}
		if diff := cmp.Diff([]int{1, 2, 3}, got); diff != "" {
			t.Errorf("popped (-want +got):\n%s", diff)
		}
		if v, ok := q.Pop(); ok || v != 0 {
			t.Errorf("Pop of an empty queue = %d, %v", v, ok)
		}
	})
	t.Run("I2 all at once", func(t *testing.T) {
		var q queue.Queue[int]
		q.Push(1)
		q.Push(2, 3)
		batch1 := q.PopAll()
		q.Push(4)
		q.Push(5)
		batch2 := q.PopAll()
		got := [][]int{batch1, batch2, q.PopAll()}
		if diff := cmp.Diff([][]int{{1, 2, 3}, {4, 5}, nil}, got); diff != "" {
			t.Errorf("batches (-want +got):\n%s", diff)
		}
	})
	t.Run("I3 empty falls to the default", func(t *testing.T) {
		var q queue.Queue[int]
		q.Push(1)
		var got []int
		for range 3 {
			v, ok := q.Pop()
			if !ok {
				v = 9
			}
			got = append(got, v)
		}
		if diff := cmp.Diff([]int{1, 9, 9}, got); diff != "" {
			t.Errorf("batches (-want +got):\n%s", diff)
		}
	})
}

func TestQueue_behaves_like_a_slice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue.Queue[int]
		var model []int
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.IntRange(0, 5).Draw(t, "n") {
					q.Push(next)
					model = append(model, next)
					next++
				}
			},
			"pop": func(t *rapid.T) {
				got, ok := q.Pop()
				if ok != (len(model) > 0) {
					t.Fatalf("Pop ok = %v with %d elements", ok, len(model))
				}
				if ok {
					if got != model[0] {
						t.Fatalf("Pop = %d, want %d", got, model[0])
					}
					model = model[1:]
				}
			},
			"pop all": func(t *rapid.T) {
				got := q.PopAll()
				if len(got) != len(model) {
					t.Fatalf("PopAll = %v, want %v", got, model)
				}
				for i := range got {
					if got[i] != model[i] {
						t.Fatalf("PopAll = %v, want %v", got, model)
					}
				}
				model = nil
			},
			"": func(t *rapid.T) {
				if q.Len() != len(model) {
					t.Fatalf("Len = %d, want %d", q.Len(), len(model))
				}
			},
		})
	})
}

func TestQueue_does_not_keep_what_was_taken(t *testing.T) {
	var q queue.Queue[*[64]byte]
	var pushed []weak.Pointer[[64]byte]
	push := func(n int) {
		elements := make([]*[64]byte, n)
		for i := range elements {
			elements[i] = new([64]byte)
			pushed = append(pushed, weak.Make(elements[i]))
		}
		q.Push(elements...)
	}
	pop := func(n int) {
		for range n {
			q.Pop()
		}
	}
	kept := func() (n int) {
		runtime.GC()
		for _, p := range pushed {
			if p.Value() != nil {
				n++
			}
		}
		return n
	}
	push(8)
	pop(4)
	if got := kept(); got != 4 {
		t.Errorf("%d of 8 elements kept after 4 were taken", got)
	}
	push(1) // moves the others up
	pop(4)
	if got := kept(); got != 1 {
		t.Errorf("%d elements kept with one in the queue", got)
	}
	runtime.KeepAlive(&q)
}

func TestQueue_takes_each_element_once_under_concurrency(t *testing.T) {
	const pushers, each = 4, 2000
	var q queue.Queue[int]
	var pushing, popping sync.WaitGroup
	pushed := make(chan struct{})
	counts := make([]int, pushers*each)
	var mu sync.Mutex
	for p := range pushers {
		pushing.Go(func() {
			for i := range each {
				q.Push(p*each + i)
			}
		})
	}
	for range 2 {
		popping.Go(func() {
			for {
				v, ok := q.Pop()
				if !ok {
					select {
					case <-pushed:
						if q.Len() == 0 {
							return
						}
					default:
					}
					continue
				}
				mu.Lock()
				counts[v]++
				mu.Unlock()
			}
		})
	}
	pushing.Wait()
	close(pushed)
	popping.Wait()
	for v, n := range counts {
		if n != 1 {
			t.Fatalf("element %d taken %d times", v, n)
		}
	}
}

func BenchmarkPushPop(b *testing.B) {
	b.Run("queue", func(b *testing.B) {
		var q queue.Queue[int]
		q.Push(0, 1, 2, 3)
		b.ReportAllocs()
		for b.Loop() {
			q.Push(1)
			q.Pop()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/record")
	})
	b.Run("plain slice", func(b *testing.B) {
		q := []int{0, 1, 2, 3}
		b.ReportAllocs()
		for b.Loop() {
			q = append(q, 1)
			q = append(q[:0], q[1:]...)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/record")
	})
}
