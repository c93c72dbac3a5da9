package oracle

import (
	"context"
	"errors"
	"fmt"
)

// CheckJoined runs a plan of GenerateRecordwise as it is, over batches, and once over RDDs that hold
// all batches, and compares the rows of each output: cutting the input into batches makes no
// difference. The plain evaluator is asked about both.
func CheckJoined(ctx context.Context, p *Plan, config Config) error {
	if !p.Stream || !p.recordwise() {
		return errors.New("the plan does not treat records one by one")
	}
	joined := p.clone()
	joined.Stream, joined.Batches = false, 1
	for i, s := range joined.Sources {
		joined.Sources[i].Batches = []Batch{{}, {Present: true, Rows: allRows(s.Batches)}}
	}
	if err := joined.settle(); err != nil {
		return err
	}
	cutWant, want := Expect(p), Expect(joined)
	for i := range p.Steps {
		if err := differ(allRows(cutWant[i]), want[i][1].Rows, false); err != nil {
			return &Failure{Plan: p, Config: config, Err: fmt.Errorf("step %d, evaluated in batches and at once: %w", i, err)}
		}
	}
	if _, err := Check(ctx, p, cutWant, config); err != nil {
		return &Failure{Plan: p, Config: config, Err: err}
	}
	if _, err := Check(ctx, joined, want, config); err != nil {
		return &Failure{Plan: joined, Config: config, Err: err}
	}
	return nil
}

func allRows(batches []Batch) []Row {
	var all []Row
	for _, b := range batches {
		all = append(all, b.Rows...)
	}
	return all
}
