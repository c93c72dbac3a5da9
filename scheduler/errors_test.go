package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

type foreignError struct{ n int }

func (e *foreignError) Error() string { return fmt.Sprintf("foreign %d", e.n) }

var foreignCodec = scheduler.ErrorCodec{
	Kind: "foreign",
	Encode: func(err error) ([]byte, bool) {
		if e, ok := err.(*foreignError); ok {
			return []byte{byte(e.n)}, true
		}
		return nil, false
	},
	Decode: func(data []byte) error {
		if len(data) != 1 {
			return &scheduler.CodecError{Doing: "decode foreign error", Err: io.ErrUnexpectedEOF}
		}
		return &foreignError{int(data[0])}
	},
}

func TestErrorsCrossProcessBorders(t *testing.T) {
	shuffle := lineage.ShuffleID{Node: lineage.NodeID{Scope: lineage.Scope{Batch: 2000, Stream: 3}, Ordinal: 4}, Dep: 1}
	fetch := &scheduler.FetchError{Shuffle: shuffle, Map: 3, Reduce: 2, Executor: "a", Err: io.ErrUnexpectedEOF}
	for _, err := range []error{
		&scheduler.TaskError{Job: 1, Stage: 2, Partition: 3, Attempt: 1, Executor: "b", Op: "map", Site: "m.go:3", Stack: "s", Err: io.EOF},
		fetch,
		&scheduler.FetchError{Shuffle: shuffle, Map: -1},
		&scheduler.ExecutorLostError{Executor: "x", Err: context.DeadlineExceeded},
		&scheduler.JobError{Job: 7, Name: "collect", Site: "m.go:9", Err: &scheduler.TaskError{Err: fetch}},
		&scheduler.CanceledError{Job: 7, Name: "count", Err: context.Canceled, Cause: &foreignError{9}},
		&scheduler.CanceledError{Job: -1, Err: context.DeadlineExceeded},
		&scheduler.PanicError{Value: "boom", Stack: "goroutine 1"},
		&scheduler.CodecError{Doing: "encode result", Err: &foreignError{3}},
		&scheduler.CanceledError{Job: 7, Err: scheduler.ErrCanceled, Cause: scheduler.ErrCannotRollBack},
		&scheduler.CommitDeniedError{Stage: 1, Partition: 2, Attempt: 3},
		&scheduler.ResultSizeError{Stage: 1, Results: 2, Bytes: 1 << 40, Limit: 1 << 30},
		&scheduler.OutputExistsError{Path: "out/part-00000", Err: fs.ErrExist},
		&scheduler.RemoteError{Type: "*x.Y", Text: "y", Errs: []error{context.Canceled, io.EOF}, Final: true},
		&foreignError{200},
	} {
		got := scheduler.DecodeError(scheduler.EncodeError(err, foreignCodec), foreignCodec)
		if !reflect.DeepEqual(got, err) {
			t.Errorf("%T: got %#v, want %#v", err, got, err)
		}
		if got.Error() != err.Error() || scheduler.Retryable(got) != scheduler.Retryable(err) {
			t.Errorf("%T reads %q, was %q; retryable %t, was %t", err, got, err, scheduler.Retryable(got), scheduler.Retryable(err))
		}
	}
	t.Run("is_and_as_answer_as_before", func(t *testing.T) {
		wrapped := errors.Join(fmt.Errorf("read block: %w", fetch), scheduler.ErrClosed)
		got := scheduler.DecodeError(scheduler.EncodeError(wrapped))
		var fe *scheduler.FetchError
		if !errors.As(got, &fe) || fe.Map != 3 || !errors.Is(got, io.ErrUnexpectedEOF) || !errors.Is(got, scheduler.ErrClosed) || errors.Is(got, io.EOF) {
			t.Errorf("got %#v", got)
		}
		if got.Error() != wrapped.Error() {
			t.Errorf("got text %q, want %q", got, wrapped)
		}
	})
	t.Run("unknown_errors_keep_text_type_and_verdict", func(t *testing.T) {
		var re *scheduler.RemoteError
		got := scheduler.DecodeError(scheduler.EncodeError(&foreignError{1}))
		if !errors.As(got, &re) || re.Text != "foreign 1" || re.Type != "*scheduler_test.foreignError" || !scheduler.Retryable(got) {
			t.Errorf("got %#v", got)
		}
		if got := scheduler.DecodeError(scheduler.EncodeError(permanentError("never"))); scheduler.Retryable(got) {
			t.Errorf("%v has become retryable", got)
		}
	})
	t.Run("endless_chains_end", func(t *testing.T) {
		e := &scheduler.ExecutorLostError{Executor: "a"}
		for range 200 {
			e = &scheduler.ExecutorLostError{Executor: "a", Err: e}
		}
		if got := scheduler.DecodeError(scheduler.EncodeError(e)); got == nil {
			t.Error("the error is gone")
		}
	})
}

func TestDamagedBytesAreCodecErrors(t *testing.T) {
	whole := scheduler.EncodeError(&scheduler.JobError{Job: 7, Name: "collect", Err: io.EOF})
	end, err := scheduler.EncodeTaskEnd(&scheduler.TaskEnd{Task: 1, ResultData: []byte{1, 2, 3}, Cached: []scheduler.CachedBlock{{BlockID: scheduler.BlockID{Part: 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	task, err := scheduler.EncodeTask(fullTask())
	if err != nil {
		t.Fatal(err)
	}
	var ce *scheduler.CodecError
	for n := range whole {
		if got := scheduler.DecodeError(whole[:n]); !errors.As(got, &ce) {
			t.Errorf("error cut at %d: got %v", n, got)
		}
	}
	for n := range end {
		if _, err := scheduler.DecodeTaskEnd(end[:n]); !errors.As(err, &ce) {
			t.Errorf("end cut at %d: got %v", n, err)
		}
	}
	for n := range task {
		if _, err := scheduler.DecodeTask(task[:n]); !errors.As(err, &ce) {
			t.Errorf("task cut at %d: got %v", n, err)
		}
	}
	if got := scheduler.DecodeError(scheduler.EncodeError(&foreignError{1}, foreignCodec)); !errors.As(got, &ce) {
		t.Errorf("unknown kind: got %v", got)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(scheduler.EncodeError(&scheduler.CanceledError{Job: 7, Err: io.EOF, Cause: io.EOF}))
	task, err := scheduler.EncodeTask(fullTask())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(task)
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = scheduler.DecodeError(data, foreignCodec)
		_, _ = scheduler.DecodeTask(data)
		_, _ = scheduler.DecodeTaskEnd(data, foreignCodec)
	})
}

func fullTask() *scheduler.Task {
	id := lineage.NodeID{Scope: lineage.Scope{Batch: 2000, Stream: 3}, Ordinal: 4}
	filled := make(scheduler.Sizes, 72)
	filled[0], filled[69] = 1, 1
	return &scheduler.Task{
		ID: 9, Attempt: lineage.Attempt{Job: 1, Stage: 2, StageAttempt: 3, Partition: 4, Number: 5}, Executor: "a", Epoch: 6,
		Address: scheduler.Address{Job: 1, Stage: 2, Name: "count", Scope: id.Scope, Node: id, Map: true,
			Shuffle: lineage.ShuffleID{Node: id, Dep: 2}},
		Inputs: []scheduler.Input{{Shuffle: lineage.ShuffleID{Node: id, Dep: 1}, Maps: []scheduler.MapOutput{
			{}, {Executor: "b", MapStatus: scheduler.MapStatus{Sizes: filled}}}}},
		Cached: []scheduler.CachedBlock{{BlockID: scheduler.BlockID{Node: id, Part: 7}, Executors: []scheduler.ExecutorID{"c", "d"}}},
	}
}

func TestTasksCrossProcessBorders(t *testing.T) {
	want := fullTask()
	sent := *want
	sent.Job, sent.Shuffle = &lineage.Job{}, &lineage.Shuffle{}
	sent.Inputs = fullTask().Inputs
	sent.Inputs[0].Maps[1].Sizes[69] = 200 // which bucket is filled crosses, how large it is does not
	data, err := scheduler.EncodeTask(&sent)
	if err != nil {
		t.Fatal(err)
	}
	got, err := scheduler.DecodeTask(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("task (-got +want):\n%s", diff)
	}
}

func TestTaskEndsCrossProcessBorders(t *testing.T) {
	for _, want := range []*scheduler.TaskEnd{
		{Task: 1},
		{Task: 2, ResultData: []byte{}},
		{Task: 3, ResultData: []byte{1}, Cached: []scheduler.CachedBlock{{BlockID: scheduler.BlockID{Node: lineage.NodeID{Ordinal: 3}, Part: 1}, Executors: []scheduler.ExecutorID{"a"}}}},
		{Task: 4, Status: scheduler.MapStatus{Sizes: scheduler.SizesOf([]int64{1, 0, 9000})}, Metrics: lineage.Metrics{RunTime: 5}},
		{Task: 5, Err: &scheduler.PanicError{Value: "boom"}},
	} {
		data, err := scheduler.EncodeTaskEnd(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := scheduler.DecodeTaskEnd(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("end (-got +want):\n%s", diff)
		}
	}
}

func TestRetryable(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{io.EOF, true},
		{context.DeadlineExceeded, true},
		{permanentError("x"), false},
		{fmt.Errorf("read: %w", permanentError("x")), false},
		{errors.Join(io.EOF, &scheduler.TaskError{Err: permanentError("x")}), false},
		{&scheduler.RemoteError{Errs: []error{permanentError("x")}}, false},
		{&scheduler.TaskError{Err: &scheduler.PanicError{}}, true},
		{&scheduler.CodecError{}, false},
	} {
		if got := scheduler.Retryable(c.err); got != c.want {
			t.Errorf("Retryable(%#v) = %t, want %t", c.err, got, c.want)
		}
	}
}

func ExampleRetryable() {
	err := fmt.Errorf("encode result: %w", &scheduler.CodecError{Doing: "encode string as rows"})
	fmt.Println(scheduler.Retryable(errors.New("disk full")), scheduler.Retryable(err))
	// Output: true false
}

func ExampleDecodeError() {
	there := fmt.Errorf("read input: %w", context.DeadlineExceeded)
	here := scheduler.DecodeError(scheduler.EncodeError(there))
	fmt.Println(here, errors.Is(here, context.DeadlineExceeded))
	// Output: read input: context deadline exceeded true
}

func TestTaskBytesThatAreNoTask(t *testing.T) {
	data, err := scheduler.EncodeTask(fullTask())
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		var bad *scheduler.CodecError
		if _, err := scheduler.DecodeTask(data[:n]); !errors.As(err, &bad) {
			t.Errorf("the first %d of %d bytes: error %v, want a *CodecError", n, len(data), err)
		}
	}
}
