package oracle

import "testing"

func TestBatchesOfRecordwisePipelinesAddUpToOneRDD(t *testing.T) {
	for i := range uint64(max(1, *count/10)) {
		p := GenerateRecordwise(*first + i)
		for _, config := range Configs(p.Seed)[:2] {
			config = config.calm() // there is no earlier run to choose their moments by
			if err := CheckJoined(t.Context(), p, config); err != nil {
				report(t, err, "oracle.n", p.Seed)
			}
		}
	}
}
