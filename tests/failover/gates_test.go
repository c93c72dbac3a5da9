package failover

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// Steps of a batch, and what is done at the beginning of a term.
var steps = []string{"P0", "P1", "P2", "P3", "P4", "P5", "P6", "P7"}

// stepOf returns the step that an operation is part of.
func stepOf(point string) string {
	has := func(s string) bool { return strings.Contains(point, s) }
	switch {
	case point == "plan":
		return "P0"
	case point == "sink begin", point == "sink part", point == "sink finish", point == "store put state":
		return "P2"
	case point == "sink seal", point == "store put manifests":
		return "P3"
	case point == "sink commit":
		return "P5"
	case point == "sink clean", point == "store put checkpoints", point == "store remove":
		return "P7"
	case has("leader start"), has("application"), point == "sink last":
		return "term"
	case has("log prepared"):
		return "P4"
	case has("log committed"):
		return "P6"
	case has("log begin"):
		return "P1"
	case has("log checkpointed"):
		return "P7"
	}
	return point
}

// errGone is what operations of a process return that is no more. It is final, so that what is left of the process ends.
var errGone = fmt.Errorf("the process is gone: %w", sink.ErrFinal)

// stand waits while the process stands still, and for ever, which is until it is buried, if it is lost.
func (p *process) stand() error {
	for {
		p.c.mu.Lock()
		gate, lost := p.gate, p.lost
		p.c.mu.Unlock()
		switch {
		case lost:
			<-p.buried
			return errGone
		case gate != nil:
			<-gate
		default:
			return nil
		}
	}
}

// do is an operation of a driver. A strike may hold it, before or after its effect.
func (p *process) do(point string, effect func() error) error {
	return p.operate(point, effect, func() bool { return false })
}

// doFor is do of an operation that must not begin when the term is over, while ctx goes on.
func (p *process) doFor(ctx context.Context, point string, effect func() error) error {
	return p.operate(point, effect, func() bool { return ctx.Err() == nil })
}

func (p *process) operate(point string, effect func() error, meant func() bool) error {
	if err := p.stand(); err != nil {
		return err
	}
	c := p.c
	c.mu.Lock()
	c.points[point]++
	if !p.over.IsZero() && time.Since(p.over) > 0 && meant() {
		c.breach("%s begins %q %v after its term has ended", p.name, point, time.Since(p.over))
	}
	s := c.armed
	if s != nil && (s.step != stepOf(point) || p.epoch == 0) {
		s = nil
	}
	if s != nil {
		if s.skip > 0 {
			s.skip--
			s = nil
		} else {
			c.armed = nil
			s.p, s.point = p, point
		}
	}
	c.mu.Unlock()
	hold := func() error {
		close(s.struck)
		<-s.release
		return p.stand()
	}
	if s != nil && !s.after {
		if err := hold(); err != nil {
			return err
		}
	}
	err := effect()
	if s != nil && s.after {
		if err := hold(); err != nil {
			return err
		}
	}
	if gone := p.stand(); gone != nil {
		return gone
	}
	return err
}

// seat is the log as a driver has it.
type seat struct {
	*raftlog.Log
	p *process
}

func (s seat) Propose(ctx context.Context, cmd driverlog.Command) (res driverlog.Result, err error) {
	err = s.p.do("log "+cmd.Kind.String(), func() error {
		if late := s.p.defers(); late > 0 {
			s.proposeLate(cmd, late)
			return fmt.Errorf("%w: there is no answer", driverlog.ErrUnknown)
		}
		s.p.overtaken(cmd.Kind)
		res, err = s.Log.Propose(ctx, cmd)
		var results []driverlog.Result
		if err == nil {
			results = []driverlog.Result{res}
		}
		s.p.answered([]driverlog.Command{cmd}, results, err)
		return s.p.forgets(err)
	})
	if err != nil {
		res = driverlog.Result{}
	}
	return res, unknown(err)
}

func (s seat) ProposeAll(ctx context.Context, cmds []driverlog.Command) (results []driverlog.Result, err error) {
	var kinds []string
	for _, cmd := range cmds {
		kinds = append(kinds, cmd.Kind.String())
	}
	err = s.p.do("log "+strings.Join(kinds, ", "), func() error {
		results, err = s.Log.ProposeAll(ctx, cmds)
		s.p.answered(cmds, results, err)
		return s.p.forgets(err)
	})
	if err != nil && !driverlog.Refused(err) {
		results = nil
	}
	return results, unknown(err)
}

// unknown makes an error of the log of one of a process that is gone.
func unknown(err error) error {
	if errors.Is(err, errGone) {
		return fmt.Errorf("%w: %w", driverlog.ErrUnknown, err)
	}
	return err
}

// proposeLate lets a command get to the log after its driver has given it up.
func (s seat) proposeLate(cmd driverlog.Command, late time.Duration) {
	cmd, _ = driverlog.DecodeCommand(cmd.Append(nil)) // its slices are the driver's
	propose := func() {
		res, err := s.Log.Propose(context.Background(), cmd)
		if err == nil {
			s.p.answered([]driverlog.Command{cmd}, []driverlog.Result{res}, nil)
		}
	}
	if late == untilNext {
		s.p.c.mu.Lock()
		defer s.p.c.mu.Unlock()
		s.p.ahead, s.p.aheadOf = propose, cmd.Kind
		return
	}
	s.p.watches.Go(func() {
		<-time.After(late)
		propose()
	})
}

// untilNext is the lateness of a command that gets to the log just ahead of the driver's next one of its kind.
const untilNext = time.Hour

// overtaken lets a command that is late get to the log ahead of one of a kind.
func (p *process) overtaken(kind driverlog.Kind) {
	p.c.mu.Lock()
	ahead := p.ahead
	if p.aheadOf != kind {
		ahead = nil
	}
	if ahead != nil {
		p.ahead = nil
	}
	p.c.mu.Unlock()
	if ahead != nil {
		ahead()
	}
}

// defers returns how much later than it is given up the next command gets to the log, 0 if it is not to.
func (p *process) defers() time.Duration {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	late := p.late
	p.late = 0
	return late
}

// forgets loses an answer, if it is to.
func (p *process) forgets(err error) error {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	if !p.forgetful || err != nil {
		return err
	}
	p.forgetful = false
	return fmt.Errorf("%w: the answer is lost", driverlog.ErrUnknown)
}

// Lead leads. The driver may be kept from being told of the term's end.
func (s seat) Lead(ctx context.Context) (driverlog.Term, error) {
	p, c := s.p, s.p.c
	if err := p.stand(); err != nil {
		return driverlog.Term{}, unknown(err)
	}
	term, err := s.Log.Lead(ctx)
	if err == nil {
		err = unknown(p.stand())
	}
	if err != nil {
		return driverlog.Term{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.epoch == term.Epoch {
		return driverlog.Term{Epoch: term.Epoch, Lost: p.told}, nil
	}
	told := make(chan struct{})
	p.epoch, p.told, p.over = term.Epoch, told, time.Time{}
	c.ran[term.Epoch] = p.build
	c.terms++
	p.watches.Go(func() {
		<-term.Lost
		for {
			c.mu.Lock()
			untold := p.untold
			if untold == nil && p.epoch == term.Epoch {
				p.over = time.Now()
			}
			c.mu.Unlock()
			if untold == nil {
				close(told)
				return
			}
			<-untold
		}
	})
	return driverlog.Term{Epoch: term.Epoch, Lost: told}, nil
}

func (s seat) State(ctx context.Context) (driverlog.State, error) {
	if err := s.p.stand(); err != nil {
		return driverlog.State{}, unknown(err)
	}
	return s.Log.State(ctx)
}

func (s seat) Resign(ctx context.Context) error {
	if err := s.p.stand(); err != nil {
		return err
	}
	return s.Log.Resign(ctx)
}
