package golden

import (
	"strings"
	"testing"
)

// recovered is a case of two processes.
const recovered = `{"nodes":[{"n":"a","op":"rows","batches":[[1],[2],[3],[4]]}],"outputs":[{"of":"a","mode":"fail-first:1000","cmp":"ordered"}],
	"checkpointDir":true,"script":[{"do":"start"},{"do":"advance","n":2},{"do":"checkpoint-time","want":{"time":2000,"pending":[1000]}},
	{"do":"checkpoint-files","want":["checkpoint-2000"]},{"do":"stop"},{"do":"conf","k":"spark.streaming.manualClock.jump","v":1000},
	{"do":"recover","want":{"clock":3000,"zero":0}},{"do":"advance"}],
	"want":{"a":[{"t":2000,"parts":[[],[2]]}]},"order":["a@1000","a@2000","a@1000","a@2000","a@3000","a@4000"],
	"asked":[["a@1000","a@2000"],["a@1000","a@2000","a@3000","a@4000"]],
	"rerun":[{"a":[{"t":1000,"parts":[[],[1]]},{"t":2000,"parts":[[],[2]]},{"t":3000,"parts":[[],[3]]},{"t":4000,"parts":[[],[4]]}]}]}`

// A case with a recovery that says anything wrong must fail.
func TestDStreamCaseRecovers(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"right":                {``, ``, ``},
		"wrong clock":          {`"clock":3000`, `"clock":2000`, `step 7, recover: got {"clock":3000,"zero":0}`},
		"wrong pending":        {`"pending":[1000]`, `"pending":[]`, `step 3, checkpoint-time: got`},
		"wrong row":            {`{"t":3000,"parts":[[],[3]]}`, `{"t":3000,"parts":[[],[4]]}`, `recovery 1, output a, batch 3000: got [[],[3]]`},
		"batch not run again":  {`{"t":2000,"parts":[[],[2]]},{"t":3000`, `{"t":3000`, `recovery 1, output a: got batches`},
		"not asked":            {`["a@1000","a@2000","a@3000"`, `["a@2000","a@3000"`, `recovery 1, inputs asked: got`},
		"wrong order":          {`"a@1000","a@2000","a@1000"`, `"a@1000","a@2000"`, `order: got`},
		"another recovery":     {`"rerun":[`, `"rerun":[{},`, `recoveries: got 1, want 2`},
		"unknown output":       {`"rerun":[{`, `"rerun":[{"b":[],`, `recovery 1, output b: not declared`},
		"recovery should fail": {`{"do":"recover","want":{"clock":3000,"zero":0}}`, `{"do":"recover","error":"ErrUser"}`, `step 7, recover: got error ""`},
		"events of all":        {`"order":`, `"events":[],"order":`, `events: got`},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(recovered, c.old) {
				t.Fatalf("no %s in the case", c.old)
			}
			err := runDStream(t, strings.Replace(recovered, c.old, c.new, 1))
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got error %v, want one with %s", err, c.want)
			}
		})
	}
}

// The last batch could not be generated: it is run again, and ends the start.
func TestDStreamCaseWhoseLastBatchCannotBeGenerated(t *testing.T) {
	if err := runDStream(t, `{"nodes":[{"n":"a","op":"rows","batches":[[10],[11],[12]]},
		{"n":"t","op":"transform","in":"a","result":"x","ops":[{"n":"x","op":"fail-at","in":"in0","t":3000}]}],
		"outputs":[{"of":"t","cmp":"ordered"}],"checkpointDir":true,
		"script":[{"do":"start"},{"do":"advance","n":3},{"do":"checkpoint-time","want":{"time":3000,"pending":[]}},{"do":"stop"},
		{"do":"recover","error":"ErrUser"},{"do":"state","want":"STOPPED"}],
		"want":{"t":[{"t":1000,"parts":[[],[10]]},{"t":2000,"parts":[[],[11]]}]},"rerun":[{}]}`); err != nil {
		t.Error(err)
	}
}

// What a script declares before the start is declared by every later process too; streams are in files where they say so, and saving
// a batch again replaces it.
// Shows F17.
func TestDStreamCaseDeclaresAgain_F17(t *testing.T) {
	if err := runDStream(t, `{"nodes":[{"n":"a","op":"rows","batches":[[[1,1]],[[1,1]],[[1,1]],[[1,1]],[[1,1]],[[1,1]]]}],
		"outputs":[{"of":"a","as":"files","mode":"text","prefix":"p","suffix":"txt"}],"checkpointDir":true,
		"script":[{"do":"node","node":{"n":"s","op":"updateStateByKey","in":"a","f":"sum","checkpoint":2000}},
		{"do":"output","output":{"of":"s","cmp":"parts"}},{"do":"persist","of":"a","level":"default"},
		{"do":"start"},{"do":"advance","n":5},{"do":"stop"},
		{"do":"recover","want":{"clock":5000,"zero":0}},{"do":"await","want":"running"},
		{"do":"output-dirs","want":["p-1000.txt","p-2000.txt","p-3000.txt","p-4000.txt","p-5000.txt"]},
		{"do":"advance"},{"do":"memo","of":"s","want":[4000,5000,6000]},{"do":"checkpoint-files","want":[]},
		{"do":"info","of":"a","want":{"slide":1000,"remember":4000,"checkpoint":null,"zero":0,"storage":"MEMORY_ONLY_SER"}}],
		"want":{"s":[{"t":1000,"parts":[[],[[1,1]]]},{"t":2000,"parts":[[],[[1,2]]]},{"t":3000,"parts":[[],[[1,3]]]},
		{"t":4000,"parts":[[],[[1,4]]]},{"t":5000,"parts":[[],[[1,5]]]}]},
		"rerun":[{"s":[{"t":5000,"parts":[[],[[1,5]]]},{"t":6000,"parts":[[],[[1,6]]]}]}]}`); err != nil {
		t.Error(err)
	}
}
