package files

import "slices"

// A history walks over the manifests of an output, in order. Each names the one before it.
type history struct {
	fs FS
	of found

	after int64  // the batch that comes before the next
	sure  bool   // sum is its digest; otherwise the next one may follow any batch up to it
	sum   digest // zero where there is none
}

// each calls yield with every manifest from batch from on. What is wrong it gives to fault, and goes on if that returns true.
// yield ends it by returning false.
func (h *history) each(from int64, fault func(error) bool, yield func(*manifest) bool) {
	ids, _, err := numbered(h.fs, h.of.at.dir(commitsDir))
	if err != nil {
		fault(err)
		return
	}
	h.after, h.sure, h.sum = from-1, from == 0, digest{}
	first, _ := slices.BinarySearch(ids, from)
	for _, id := range ids[first:] {
		m, err := h.read(id)
		if err != nil {
			if !fault(err) {
				return
			}
			h.after, h.sure = id, false
			continue
		}
		if m == nil { // removed meanwhile; the next one tells
			continue
		}
		all, err := h.upTo(m)
		if err != nil && !fault(err) {
			return
		}
		for _, m := range all {
			h.after, h.sure, h.sum = m.Batch, true, m.sum
			if !yield(m) {
				return
			}
		}
	}
}

// read returns a manifest that is in the right place, nil where there is none.
func (h *history) read(id int64) (*manifest, error) {
	m, err := readManifest(h.fs, h.of.at, id)
	if m == nil || err != nil {
		return nil, err
	}
	if err := h.of.belongs(m); err != nil {
		return nil, err
	}
	h.of.at.named, h.of.at.app, h.of.at.name = true, m.App, m.Output
	return m, nil
}

// upTo returns the manifests after h.after up to m. Some may not have been listed: what is made while a folder is listed can be
// left out though a later name is not.
func (h *history) upTo(m *manifest) ([]*manifest, error) {
	all := []*manifest{m}
	for {
		first := all[0]
		if first.Previous <= h.after {
			if h.sure && (first.Previous < h.after || first.PreviousIs != h.sum) {
				return all, h.broken(first)
			}
			return all, nil
		}
		p, err := h.read(first.Previous)
		if err == nil && p == nil {
			err = &DamageError{File: h.of.at.manifest(first.Previous), Problem: "missing"}
		}
		if err == nil && p.sum != first.PreviousIs {
			err = h.broken(first)
		}
		if err != nil {
			return all, err
		}
		all = slices.Insert(all, 0, p)
	}
}

func (h *history) broken(m *manifest) error {
	return &DamageError{File: h.of.at.manifest(m.Batch), Problem: "does not follow the manifest before it"}
}
