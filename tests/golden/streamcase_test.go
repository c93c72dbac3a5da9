package golden

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

// numbers is a case of one stream with the batches 1, 2 and an absent one; what follows is put in.
const numbers = `{"nodes":[{"n":"a","op":"rows","batches":[[1],[2],null]}],"outputs":[{"of":"a","cmp":"ordered"}],"run":3,
	"want":{"a":[{"t":1000,"parts":[[],[1]]},{"t":2000,"parts":[[],[2]]}]}`

// runDStream runs a case in a bubble.
func runDStream(t *testing.T, text string) (err error) {
	t.Helper()
	var c DStreamCase
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	opts := StreamOptions{Dir: t.TempDir(), Idle: synctest.Wait}
	synctest.Test(t, func(t *testing.T) { err = c.Run(t.Context(), opts) })
	return err
}

// A case that says anything wrong must fail: else what passes proves nothing.
func TestDStreamCase(t *testing.T) {
	replaced := func(old, new string) string {
		if !strings.Contains(numbers, old) {
			t.Fatalf("no %s in the case", old)
		}
		return strings.Replace(numbers, old, new, 1) + "}"
	}
	script := func(steps string) string { return replaced(`"run":3`, `"script":[{"do":"start"},`+steps+`]`) }
	for name, c := range map[string]struct{ text, want string }{
		"right":            {numbers + `,"order":["a@1000","a@2000"],"asked":[["a@1000","a@2000","a@3000"]]}`, ""},
		"wrong row":        {replaced(`[[],[2]]`, `[[],[3]]`), `output a, batch 2000: got [[],[2]]`},
		"wrong partition":  {replaced(`[[],[2]]`, `[[2],[]]`), `output a, batch 2000`},
		"batch too few":    {replaced(`,{"t":2000,"parts":[[],[2]]}`, ``), `got batches [1000 ms 2000 ms], want [1000 ms]`},
		"absent batch":     {replaced(`[{"t":1000`, `[{"t":3000,"parts":[[],[]]},{"t":1000`), `got batches`},
		"unknown output":   {replaced(`"want":{`, `"want":{"b":[],`), `output b: not declared`},
		"wrong order":      {numbers + `,"order":["a@2000","a@1000"]}`, `order: got`},
		"wrong events":     {numbers + `,"events":[{"ev":"streaming-started"}]}`, `events: got`},
		"not asked":        {numbers + `,"asked":[["a@1000","a@2000"]]}`, `inputs asked: got [a@1000 a@2000 a@3000]`},
		"nothing reported": {numbers + `,"reported":{"error":"ErrUser"}}`, `reported: got error ""`},
		"reported":         {replaced(`"cmp"`, `"mode":"collect-then-fail-at:2000","cmp"`), `reported: got error "ErrUser"`},
		"output fails":     {replaced(`"cmp"`, `"mode":"fail-at:2000","cmp"`), `got batches [1000 ms], want`},
		"no build error":   {replaced(`"run":3`, `"build":{"node":"a","error":"ErrBadSlide"}`), `declare a: got error ""`},
		"wrong state":      {script(`{"do":"advance","n":3},{"do":"state","want":"STOPPED"}`), `step 3, state: got "ACTIVE"`},
		"no step error":    {script(`{"do":"advance","n":3},{"do":"remember","ms":1,"error":"ErrArgument"}`), `step 3, remember: got error "ErrContextActive"`},
		"not settled":      {script(`{"do":"advance","n":2},{"do":"memo","of":"a","want":[1000]}`), `step 3, memo: got [2000]`},
		"leat's answer":    {replaced(`[[],[2]]`, `[[],[9]]`)[:len(numbers)] + `,"dev":"D1","leat":{"a":[{"t":1000,"rows":[1]},{"t":2000,"rows":[2]}]}}`, ""},
		"not leat's":       {numbers + `,"dev":"D1","leat":{"a":[{"t":1000,"rows":[1]},{"t":2000,"rows":[3]}]}}`, `output a, batch 2000`},
		"differs before a missing step": {script(`{"do":"advance","n":2},{"do":"no-such-step"},{"do":"state","want":"STOPPED"}`),
			`step 4, state`},
	} {
		t.Run(name, func(t *testing.T) {
			err := runDStream(t, c.text)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got error %v, want one with %s", err, c.want)
			}
		})
	}
}

func TestDStreamCaseNamesWhatIsNotBuilt(t *testing.T) {
	for want, text := range map[string]string{
		"stream operation no-such-op": strings.Replace(numbers, `],"outputs"`, `,{"n":"b","op":"no-such-op","in":"a"}],"outputs"`, 1) + "}",
		"setting no.such.setting":     numbers + `,"conf":{"no.such.setting":1}}`,
		"output mode no-such-mode":    strings.Replace(numbers, `"cmp"`, `"mode":"no-such-mode","cmp"`, 1) + "}",
		"map function no-such":        strings.Replace(numbers, `],"outputs"`, `,{"n":"b","op":"map","in":"a","f":"no-such"}],"outputs"`, 1) + "}",
		"step no-such-step":           strings.Replace(numbers, `"run":3`, `"script":[{"do":"start"},{"do":"no-such-step"},{"do":"advance","n":3}]`, 1) + "}",
	} {
		var missing *NotBuiltError
		if err := runDStream(t, text); !errors.As(err, &missing) || missing.What+" "+missing.Name != want {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
}

// An orderly stop makes the batch that is due and one more, and a script may go on behind it.
func TestDStreamCaseStopsGracefully(t *testing.T) {
	text := strings.Replace(numbers, `"run":3`, `"script":[{"do":"start"},{"do":"stop","graceful":true},{"do":"await","want":"stopped"}]`, 1) + "}"
	if err := runDStream(t, text); err != nil {
		t.Error(err)
	}
}

func TestReportCountsTheWorst(t *testing.T) {
	var r Report
	missing := &NotBuiltError{What: "step", Name: "leap"}
	r.AddDev("x")
	for _, c := range []struct {
		id  string
		err error
	}{{"a", nil}, {"a", nil}, {"b", nil}, {"b", errors.New("wrong")}, {"c", missing}, {"c", missing}, {"d", missing}, {"e", errors.New("wrong")}, {"e", nil}} {
		r.Add(c.id, c.err)
	}
	if got, want := r.String(), "1 passed, 2 failed, 2 not built (step leap 2), 1 dev"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
