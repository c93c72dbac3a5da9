package executor

import (
	"fmt"
	"io"
)

// writePartition writes a persisted partition.
func (d *disk) writePartition(st *stored, held []Held) (f *file, err error) {
	w, err := d.newPartition(st)
	if err != nil {
		return nil, err
	}
	defer func() { // also after a panic of the codec
		if f == nil {
			_ = d.discard(w.f)
		}
	}()
	for _, h := range held {
		if h, err = h.encoded("persisted partition", st.codec); err == nil {
			err = w.add(h)
		}
		if err != nil {
			return nil, err
		}
	}
	return w.finish()
}

// A partitionWriter writes a persisted partition as it comes. Frames are written one by one, so that what
// came before a failure can be read back.
type partitionWriter struct {
	disk   *disk
	f      newFile
	frames int
	size   int64
}

func (d *disk) newPartition(st *stored) (*partitionWriter, error) {
	f, err := d.temp(fmt.Sprintf("rdd_%s_%d", st.owner.Node, st.part))
	if err != nil {
		return nil, err
	}
	return &partitionWriter{disk: d, f: f}, nil
}

func (w *partitionWriter) add(h Held) error {
	n, err := writeFrame(w.f, 0, w.frames, h.Data, h.sum())
	if err != nil {
		return &FileError{Path: w.f.Name(), Doing: "write", Err: err}
	}
	w.frames++
	w.size += n
	return nil
}

// finish makes the file one that can be read. After an error it is the caller's to discard.
func (w *partitionWriter) finish() (*file, error) {
	n, err := writeEnd(w.f, 0, w.frames)
	if err != nil {
		return nil, &FileError{Path: w.f.Name(), Doing: "write", Err: err}
	}
	return w.disk.publish(w.f, w.size+n)
}

// read yields what has been written so far.
func (w *partitionWriter) read(yield func(Held) error) (damage, stop error) {
	damage, stop = readFrames(io.NewSectionReader(w.f, 0, w.size), 0, 0, w.frames, yield)
	if damage != nil {
		damage = &FileError{Path: w.f.Name(), Doing: "read", Err: damage}
	}
	return damage, stop
}
