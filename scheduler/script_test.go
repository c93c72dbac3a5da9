package scheduler_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

var rewrite = flag.Bool("rewrite", false, "write the answers of testdata anew")

// TestScript runs the scripts of testdata through the event handler. A block of commands, a line of
// dashes, what the scheduler did, an empty line. The file names begin with the case of the
// specification they show.
//
//	options failures=2 stagefailures=4
//	node NAME PARTS                  a source
//	node NAME PARTS shuffle PARENT   reads PARENT by a shuffle
//	node NAME PARTS map PARENT       one to one
//	node NAME PARTS at PLACES...     a source that names places, for each partition "a,b" or "-"
//	executor ID SLOTS [HOST]
//	submit NAME [PARTS...]           jobs are numbered from 0
//	ok STAGE.ATTEMPT PARTS... [@EXECUTOR]   the newest running attempts succeed ("all" for all)
//	cached STAGE.ATTEMPT PART NODE   succeeds and has stored that partition of NODE
//	fail STAGE.ATTEMPT PART TEXT     fails; a text that begins with "permanent" is final
//	fetch STAGE.ATTEMPT PART SHUFFLE MAP [EXECUTOR]
//	late                             the last report comes again
//	lost ID [blame]
//	fire                             the time for what was put off has come
//	cancel JOB, forget BATCH, unpersist NAME, close
//	advance MILLISECONDS             of the clock, with what is due meanwhile
//	state NAME                       outputs registered for the shuffle NAME reads
func TestScript(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := runScript(t, string(data))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(got, string(data)); diff != "" {
				t.Errorf("script (-got +want):\n%s", diff)
			}
		})
	}
}

// runScript returns the script with its answers.
func runScript(t *testing.T, text string) string {
	s := newScript(t)
	var out strings.Builder
	answer := false
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		switch {
		case line == "----":
			answer = true
			fmt.Fprintf(&out, "----\n%s", s.said.String())
			s.said.Reset()
		case answer && line == "":
			answer = false
			out.WriteString("\n")
		case answer:
		default:
			out.WriteString(line + "\n")
			command, _, _ := strings.Cut(line, "#")
			if f := strings.Fields(command); len(f) > 0 {
				s.do(f)
			}
		}
	}
	if total, sum := s.loop.Slots(); total != sum {
		t.Errorf("the loop counts %d free slots, its executors have %d", total, sum)
	}
	return out.String()
}

type script struct {
	t       *testing.T
	loop    *scheduler.ScriptLoop
	backend *schedulertest.Scripted
	graph   *schedulertest.Graph
	nodes   map[string]*schedulertest.Node
	running []scheduler.TaskStarted
	cancels []func(error)
	pools   []scheduler.Pool
	shown   struct{ canceled, dropped int }
	last    *scheduler.TaskEnd
	said    strings.Builder

	replaces bool // whether the backend can replace executors
	levels   bool // whether attempts are shown with their locality
}

func newScript(t *testing.T) *script {
	s := &script{t: t, backend: new(schedulertest.Scripted), graph: new(schedulertest.Graph), nodes: map[string]*schedulertest.Node{}}
	s.open(scheduler.Options{})
	return s
}

// open begins with a new scheduler and no executors. Nodes stay.
func (s *script) open(opts scheduler.Options) {
	s.backend, s.running, s.cancels = new(schedulertest.Scripted), nil, nil
	s.shown.canceled, s.shown.dropped = 0, 0
	say := func(format string, args ...any) { fmt.Fprintf(&s.said, format+"\n", args...) }
	opts.Listeners = []scheduler.Listener{{
		JobStarted: func(e scheduler.JobStarted) {
			var stages []string
			for _, st := range e.Stages {
				stages = append(stages, fmt.Sprintf("%d (%s)", st.Stage, st.Op))
			}
			say("job %d: stages %s", e.Job, strings.Join(stages, ", "))
		},
		JobEnded: func(e scheduler.JobEnded) {
			if e.Err != nil {
				say("job %d failed: %v", e.Job, e.Err)
			} else {
				say("job %d done", e.Job)
			}
		},
		StageSubmitted: func(e scheduler.StageSubmitted) { say("stage %d.%d submitted: %d tasks", e.Stage, e.Attempt, e.Tasks) },
		StageCompleted: func(e scheduler.StageCompleted) {
			if e.Err != nil {
				say("stage %d.%d given up: %v", e.Stage, e.Attempt, e.Err)
			} else {
				say("stage %d.%d done", e.Stage, e.Attempt)
			}
		},
		TaskStarted: func(e scheduler.TaskStarted) {
			s.running = append(s.running, e)
			say("  run %s on %s%s", name(e), e.Executor, s.shownLevel(e))
		},
		TaskEnded: func(e scheduler.TaskEnded) {
			for i, r := range s.running {
				if r.Task == e.Task {
					s.running = append(s.running[:i:i], s.running[i+1:]...)
					if e.Err != nil {
						say("  end %s: %v", name(r), e.Err)
					}
					return
				}
			}
			s.t.Errorf("task %d ended twice", e.Task)
		},
		ExecutorAdded: func(e scheduler.ExecutorInfo) { say("executor %s has %d slots", e.ID, e.Slots) },
		ExecutorLost:  func(id scheduler.ExecutorID, loss scheduler.Loss) { say("executor %s lost", id) },
	}}
	s.listenPlaces(&opts.Listeners[0])
	s.loop = scheduler.NewScriptLoop(s.scripted(), opts)
}

func name(e scheduler.TaskStarted) string {
	a := e.Attempt
	s := fmt.Sprintf("%d.%d/%d", a.Stage, a.StageAttempt, a.Partition)
	if a.Number > 0 {
		s += fmt.Sprintf(" again (%d)", a.Number)
	}
	return s
}

type permanentError string

func (e permanentError) Error() string   { return string(e) }
func (e permanentError) Permanent() bool { return true }

func (s *script) do(f []string) {
	switch f[0] {
	case "options":
		var o scheduler.Options
		for _, kv := range f[1:] {
			k, v, _ := strings.Cut(kv, "=")
			switch k {
			case "failures":
				o.MaxFailures = s.number(v)
			case "stagefailures":
				o.MaxStageFailures = s.number(v)
			default:
				if !s.placeOption(&o, k, v) {
					s.jobOption(&o, k, v)
				}
			}
		}
		s.open(o)
	case "batch":
		s.graph = &schedulertest.Graph{Scope: lineage.Scope{Batch: int64(s.number(f[1])), Stream: 1}}
	case "node":
		s.node(f)
	case "executor":
		info := scheduler.ExecutorInfo{ID: scheduler.ExecutorID(f[1]), Slots: s.number(f[2])}
		if len(f) > 3 {
			info.Host = f[3]
		}
		s.loop.ExecutorAdded(info)
	case "submit":
		n := s.nodes[f[1]]
		job, _ := schedulertest.Collect(n)
		if len(f) > 2 {
			parts := []int{}
			for _, p := range f[2:] {
				parts = append(parts, s.number(p))
			}
			job, _ = schedulertest.CollectParts(n, parts)
		}
		done := job.Done
		job.Done = func(i int, b lineage.Block) error {
			fmt.Fprintf(&s.said, "  result %d\n", i)
			return done(i, b)
		}
		s.cancels = append(s.cancels, s.loop.Submit(job))
	case "ok":
		on := ""
		parts := f[2:]
		if last := parts[len(parts)-1]; strings.HasPrefix(last, "@") {
			on, parts = last[1:], parts[:len(parts)-1]
		}
		for _, task := range s.tasks(f[1], parts, on) {
			s.end(schedulertest.Success(task, []int64{}))
		}
	case "cached":
		for _, task := range s.tasks(f[1], f[2:3], "") {
			end := schedulertest.Success(task, []int64{})
			end.Cached = []scheduler.CachedBlock{{
				BlockID:   scheduler.BlockID{Node: s.nodes[f[3]].ID(), Part: task.Attempt.Partition},
				Executors: []scheduler.ExecutorID{task.Executor},
			}}
			s.end(end)
		}
	case "fail":
		text := strings.Join(f[3:], " ")
		err := errors.New(text)
		if strings.HasPrefix(text, "permanent") {
			err = permanentError(text)
		}
		for _, task := range s.tasks(f[1], f[2:3], "") {
			s.end(&scheduler.TaskEnd{Task: task.ID, Err: err})
		}
	case "fetch":
		fe := &scheduler.FetchError{Shuffle: s.nodes[f[3]].ShuffleOf().ID, Map: s.number(f[4]), Err: errors.New("gone")}
		if len(f) > 5 {
			fe.Executor = scheduler.ExecutorID(f[5])
		}
		for _, task := range s.tasks(f[1], f[2:3], "") {
			fe.Reduce = task.Attempt.Partition
			s.end(&scheduler.TaskEnd{Task: task.ID, Err: fe})
		}
	case "late":
		s.loop.TaskEnded(s.last)
	case "lost":
		s.loop.ExecutorLost(scheduler.ExecutorID(f[1]), scheduler.Loss{Err: errors.New("crashed"), Blameless: len(f) == 2})
	case "fire":
		s.loop.Fire()
	case "cancel":
		s.cancels[s.number(f[1])](context.Canceled)
	case "forget":
		s.loop.Forget(lineage.Drop{Scopes: []lineage.Scope{{Batch: int64(s.number(f[1])), Stream: 1}}})
	case "unpersist":
		s.loop.Forget(lineage.Drop{Nodes: []lineage.NodeID{s.nodes[f[1]].ID()}})
	case "close":
		s.loop.Close()
	case "backend":
		s.loop.BackendEnded(errors.New(strings.Join(f[1:], " ")))
	case "state":
		have, maps := s.loop.Available(s.nodes[f[1]].ShuffleOf().ID)
		fmt.Fprintf(&s.said, "%s: %d of %d outputs, epoch %d, idle %t, %d events put off\n",
			f[1], have, maps, s.loop.Epoch(), s.loop.Idle(), s.loop.Pending())
	default:
		if !s.doJobs(f) && !s.doPlaces(f) {
			s.t.Fatalf("no command %q", f[0])
		}
	}
	s.backendSaid()
}

func (s *script) node(f []string) {
	n := s.number(f[2])
	switch {
	case len(f) == 3:
		s.nodes[f[1]] = s.graph.Source(f[1], n, func(int) []int64 { return nil })
	case f[3] == "shuffle":
		s.nodes[f[1]] = s.graph.Shuffle(f[1], s.nodes[f[4]], n)
	case f[3] == "map":
		s.nodes[f[1]] = s.graph.Map(f[1], s.nodes[f[4]], nil)
	case f[3] == "zip":
		s.nodes[f[1]] = s.graph.Zip(f[1], s.nodes[f[4]], s.nodes[f[5]])
	case f[3] == "union":
		s.nodes[f[1]] = s.graph.Union(f[1], s.nodes[f[4]], s.nodes[f[5]])
	case f[3] == "at":
		s.nodes[f[1]] = s.graph.Source(f[1], n, func(int) []int64 { return nil })
		s.nodes[f[1]].Places = func(part int) []string { return places(f[4+part]) }
	case f[3] == "broken":
		s.nodes[f[1]] = s.graph.Source(f[1], n, nil)
		s.nodes[f[1]].Err = errors.New("no such file")
	}
}

// tasks returns the running attempts of a stage attempt for the partitions.
func (s *script) tasks(stage string, parts []string, on string) []*scheduler.Task {
	var found []*scheduler.Task
	launched := s.backend.Launched()
	for _, p := range parts {
		matched := false
		for i := len(s.running) - 1; i >= 0; i-- {
			r := s.running[i]
			if p == "all" { // in order of launch; else the newest
				r = s.running[len(s.running)-1-i]
			}
			if fmt.Sprintf("%d.%d", r.Attempt.Stage, r.Attempt.StageAttempt) != stage ||
				p != "all" && p != strconv.Itoa(r.Attempt.Partition) || on != "" && string(r.Executor) != on {
				continue
			}
			found = append(found, launched[r.Task-1])
			matched = true
			if p != "all" {
				break
			}
		}
		if !matched {
			s.t.Errorf("no attempt of %s/%s is running", stage, p)
		}
	}
	return found
}

func (s *script) end(end *scheduler.TaskEnd) {
	s.last = end
	s.loop.TaskEnded(end)
}

// backendSaid shows cancellations and drops.
func (s *script) backendSaid() {
	launched := s.backend.Launched()
	canceled := s.backend.Canceled()
	for _, id := range canceled[s.shown.canceled:] {
		fmt.Fprintf(&s.said, "  cancel %s\n", name(scheduler.TaskStarted{Attempt: launched[id-1].Attempt}))
	}
	s.shown.canceled = len(canceled)
	dropped := s.backend.Dropped()
	for _, d := range dropped[s.shown.dropped:] {
		for _, sc := range d.Scopes {
			fmt.Fprintf(&s.said, "  drop batch %d\n", sc.Batch)
		}
		for _, n := range d.Nodes {
			fmt.Fprintf(&s.said, "  drop node %s\n", n)
		}
	}
	s.shown.dropped = len(dropped)
}

func (s *script) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}
