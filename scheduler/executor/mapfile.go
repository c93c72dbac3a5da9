package executor

import (
	"bufio"
	"fmt"
	"io"
)

// An outputWriter writes a map output as it comes. If its segments come in order the file it writes is the
// data file in the end; else frames are sorted by segment into another one.
type outputWriter struct {
	disk    *disk
	name    string
	f       newFile
	w       *bufio.Writer
	size    int64
	parts   [][]extent // of the frames, by segment
	last    int        // segment
	ordered bool
}

// An extent is a frame's place in the file.
type extent struct{ at, size int64 }

// newOutput begins the file of a map output.
func (d *disk) newOutput(st *stored, segments int) (*outputWriter, error) {
	name := fmt.Sprintf("shuffle_%s_%d_%d", st.owner, st.part, st.task)
	f, err := d.temp(name + ".data")
	if err != nil {
		return nil, err
	}
	return &outputWriter{disk: d, name: name, f: f, w: bufio.NewWriterSize(f, 64<<10), parts: make([][]extent, segments), ordered: true}, nil
}

// add writes a block that is bytes.
func (o *outputWriter) add(segment int, h Held) error {
	if segment != o.last {
		if err := o.endSegment(); err != nil {
			return err
		}
		o.ordered = o.ordered && segment > o.last
		o.last = segment
	}
	n, err := writeFrame(o.w, segment, len(o.parts[segment]), h.Data, h.sum())
	if err != nil {
		return &FileError{Path: o.f.Name(), Doing: "write", Err: err}
	}
	o.parts[segment] = append(o.parts[segment], extent{o.size, n})
	o.size += n
	return nil
}

// endSegment ends the last segment, if the file may be the data file.
func (o *outputWriter) endSegment() error {
	frames := len(o.parts[o.last])
	if !o.ordered || frames == 0 {
		return nil
	}
	n, err := writeEnd(o.w, o.last, frames)
	o.size += n
	if err != nil {
		return &FileError{Path: o.f.Name(), Doing: "write", Err: err}
	}
	return nil
}

// finish makes data and index of what was written, and returns the lengths of the segments. After an error the writer
// is still the caller's to discard.
func (o *outputWriter) finish() (f *file, lengths []int64, err error) {
	if len(o.parts) > 0 {
		if err := o.endSegment(); err != nil {
			return nil, nil, err
		}
	}
	if err := o.w.Flush(); err != nil {
		return nil, nil, &FileError{Path: o.f.Name(), Doing: "write", Err: err}
	}
	if !o.ordered {
		if err := o.sort(); err != nil {
			return nil, nil, err
		}
	}
	lengths = make([]int64, len(o.parts))
	for i, frames := range o.parts {
		for _, x := range frames {
			lengths[i] += x.size
		}
		if len(frames) > 0 {
			lengths[i] += frameHeader // the end
		}
	}
	index, err := o.disk.temp(o.name + ".index")
	if err != nil {
		return nil, nil, err
	}
	if _, err := index.Write(appendIndex(nil, lengths)); err != nil {
		_ = o.disk.discard(index)
		return nil, nil, &FileError{Path: index.Name(), Doing: "write", Err: err}
	}
	return o.disk.publishPair(o.name, o.f, index, lengths)
}

// sort replaces the file by one with the frames in the order of the segments.
func (o *outputWriter) sort() error {
	data, err := o.disk.temp(o.name + ".data")
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(data, 64<<10)
	for i, frames := range o.parts {
		for _, x := range frames {
			if _, err = io.Copy(w, io.NewSectionReader(o.f, x.at, x.size)); err != nil {
				break
			}
		}
		if len(frames) > 0 && err == nil {
			_, err = writeEnd(w, i, len(frames))
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		_ = o.disk.discard(data)
		return &FileError{Path: data.Name(), Doing: "write", Err: err}
	}
	err = o.disk.discard(o.f)
	o.f = data
	if err != nil {
		return &FileError{Path: o.f.Name(), Doing: "remove", Err: err}
	}
	return nil
}

// discard gives up what was not finished.
func (o *outputWriter) discard() { _ = o.disk.discard(o.f) }

// writeOutput writes a map output that is in memory.
func (d *disk) writeOutput(st *stored, held [][]Held) (f *file, lengths []int64, err error) {
	o, err := d.newOutput(st, len(held))
	if err != nil {
		return nil, nil, err
	}
	defer func() { // also after a panic of the codec
		if f == nil {
			o.discard()
		}
	}()
	for i := range held {
		for _, h := range held[i] {
			if h, err = h.encoded("bucket", st.codec); err == nil {
				err = o.add(i, h)
			}
			if err != nil {
				return nil, nil, err
			}
		}
	}
	return o.finish()
}
