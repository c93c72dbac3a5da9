package protocol_test

import (
	"slices"
	"testing"
)

// plantedSeeds is within how many seeds a planted bug must be found.
const plantedSeeds = 400

// TestPlantedBugs shows that each checker finds what it is for: a bug in the world, or in what stands between it and the cores.
func TestPlantedBugs(t *testing.T) {
	shown := map[string]bool{}
	for _, tt := range []struct {
		bug  string
		want []string // the checkers that find it
	}{
		{"rows lost", []string{INV1}},
		{"half shown", []string{INV2}},
		{"other input", []string{INV3}},
		{"shown when staged", []string{INV4}},
		{"offset forgotten", []string{INV5}},
		{"entry twice", []string{INV6}},
		{"stale state", []string{INV7}},
		{"window not kept", []string{INV8}},
		{"mark put back", []string{INV9}},
		{"never a checkpoint", []string{INV10}},
		{"no fence", []string{I5}},
		{"sink does not fence", []string{INV13}},
		{"batch forgotten", []string{INV15}},
		{"plain output not run", []string{INV16}},
		{"shown twice", []string{INV1}},
		{"never swept", []string{INV17}},
		{"temporaries left", []string{INV17}},
		{"error swallowed", []string{INV18}},
		{"marks forgotten", []string{newest}},
		{"owed forgotten", []string{newest}},
		{"committed early", []string{I6}},
		{"other manifest", []string{I7}},
		{"replica misses one", []string{I9}},
		{"acknowledged and lost", []string{I10}},
		{"eager sweep", []string{I11}},
		{"stale sweep", []string{I11}},
		{"same names", []string{I12}},
		{"files lost", []string{I14}},
	} {
		t.Run(tt.bug, func(t *testing.T) {
			for _, checker := range tt.want {
				shown[checker] = true
				if seed := findBug(tt.bug, checker); seed == 0 {
					t.Errorf("not found in %d seeds by %s", plantedSeeds, checker)
				} else {
					t.Logf("found with seed %d by %s", seed, checker)
				}
			}
		})
	}
	for _, checker := range checkers {
		if !shown[checker] {
			t.Errorf("no bug is planted for %s", checker)
		}
	}
}

// findBug returns the first seed with which a checker finds a bug, 0 if none does.
func findBug(bug, checker string) uint64 {
	for seed := uint64(1); seed <= plantedSeeds; seed++ {
		if simulate(seed, bug).w.broken[checker] {
			return seed
		}
	}
	return 0
}

// TestATraceThatDoesNotFollowFromTheSeedIsFound plants a choice that two runs make differently.
func TestATraceThatDoesNotFollowFromTheSeedIsFound(t *testing.T) {
	var hashes []uint64
	for range 16 {
		hashes = append(hashes, simulate(100, "order of a map").w.hash.Sum64())
	}
	if first := hashes[0]; !slices.ContainsFunc(hashes, func(h uint64) bool { return h != first }) {
		t.Error("sixteen runs have the same trace")
	}
}
