package scheduler

import (
	"fmt"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/leat-io/leat/lineage"
)

// EncodeTask returns a task's address and inputs as bytes. The job and shuffle it points to do not
// cross; the receiver looks them up by address.
func EncodeTask(task *Task) ([]byte, error) {
	data, err := msgpack.Marshal(task)
	if err != nil {
		return nil, &CodecError{Doing: fmt.Sprintf("encode task %d", task.ID), Err: err}
	}
	return data, nil
}

// DecodeTask returns the task that EncodeTask wrote.
//
// Errors: *CodecError for bytes that are not a task.
func DecodeTask(data []byte) (*Task, error) {
	task := new(Task)
	if err := msgpack.Unmarshal(data, task); err != nil {
		return nil, &CodecError{Doing: "decode task", Err: err}
	}
	return task, nil
}

// EncodeMsgpack writes where an output is and which buckets hold rows. How large they are no task
// asks, there is a size for each pair of map and reducer, and every task of a stage carries all outputs
// it may read.
func (o MapOutput) EncodeMsgpack(e *msgpack.Encoder) error {
	if err := e.EncodeString(string(o.Executor)); err != nil {
		return err
	}
	filled := make([]byte, (len(o.Sizes)+7)/8)
	for i := range o.Sizes {
		if o.Sizes.Has(i) {
			filled[i/8] |= 1 << (i % 8)
		}
	}
	return e.EncodeBytes(filled)
}

// DecodeMsgpack reads what EncodeMsgpack wrote: sizes are 1 where a bucket holds rows.
func (o *MapOutput) DecodeMsgpack(d *msgpack.Decoder) error {
	executor, err := d.DecodeString()
	if err != nil {
		return err
	}
	filled, err := d.DecodeBytes()
	if err != nil {
		return err
	}
	*o = MapOutput{Executor: ExecutorID(executor)}
	if len(filled) > 0 {
		o.Sizes = make(Sizes, 8*len(filled))
		for i := range o.Sizes {
			o.Sizes[i] = filled[i/8] >> (i % 8) & 1
		}
	}
	return nil
}

// endWire is a TaskEnd with its error as bytes and without a live result.
type endWire struct {
	Task       TaskID
	HasResult  bool
	ResultData []byte
	Status     MapStatus
	Cached     []CachedBlock
	Updates    []updateWire
	Metrics    lineage.Metrics
	Failed     bool
	Err        []byte
}

// updateWire is a lineage.Update without its live value.
type updateWire struct {
	ID   lineage.AccumulatorID
	Name string
	Data []byte
}

// EncodeTaskEnd returns a report as bytes. Only ResultData carries a result; Result is left behind.
func EncodeTaskEnd(end *TaskEnd, codecs ...ErrorCodec) ([]byte, error) {
	w := endWire{
		Task: end.Task, HasResult: end.ResultData != nil, ResultData: end.ResultData,
		Status: end.Status, Cached: end.Cached, Metrics: end.Metrics, Failed: end.Err != nil,
	}
	for _, u := range end.Updates {
		w.Updates = append(w.Updates, updateWire{ID: u.ID, Name: u.Name, Data: u.Data})
	}
	if end.Err != nil {
		w.Err = EncodeError(end.Err, codecs...)
	}
	data, err := msgpack.Marshal(&w)
	if err != nil {
		return nil, &CodecError{Doing: fmt.Sprintf("encode end of task %d", end.Task), Err: err}
	}
	return data, nil
}

// DecodeTaskEnd returns the report that EncodeTaskEnd wrote, its result still in ResultData.
//
// Errors: *CodecError for bytes that are not a report.
func DecodeTaskEnd(data []byte, codecs ...ErrorCodec) (*TaskEnd, error) {
	var w endWire
	if err := msgpack.Unmarshal(data, &w); err != nil {
		return nil, &CodecError{Doing: "decode end of task", Err: err}
	}
	end := &TaskEnd{Task: w.Task, Status: w.Status, Cached: w.Cached, Metrics: w.Metrics}
	for _, u := range w.Updates {
		end.Updates = append(end.Updates, lineage.Update{ID: u.ID, Name: u.Name, Data: u.Data})
	}
	if w.HasResult {
		end.ResultData = w.ResultData
		if end.ResultData == nil {
			end.ResultData = []byte{}
		}
	}
	if w.Failed {
		end.Err = DecodeError(w.Err, codecs...)
	}
	return end, nil
}
