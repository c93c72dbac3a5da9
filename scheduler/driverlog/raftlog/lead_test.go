package raftlog

import "testing"

func TestOpenTerm(t *testing.T) {
	now := role{leads: true, seq: 7}
	l := &Log{events: newEvents(&Listener{}), role: now, epoch: 5}
	for _, tt := range []struct {
		name  string
		epoch uint64
		was   role
	}{
		{"leadership_was_lost_and_won_again", 5, role{leads: true, seq: 5}},
		{"leadership_was_lost", 5, role{}},
		{"another_term_was_started", 4, now},
	} {
		t.Run("not_when_"+tt.name+"_meanwhile", func(t *testing.T) {
			if _, ok := l.open(tt.epoch, tt.was); ok {
				t.Error("a term was opened")
			}
		})
	}
	t.Run("and_lost_with_another_epoch", func(t *testing.T) {
		term, ok := l.open(5, now)
		if !ok || term.Epoch != 5 {
			t.Fatalf("open = %+v, %t", term, ok)
		}
		l.began(5)
		select {
		case <-term.Lost:
			t.Error("the term is lost with its own LeaderStart")
		default:
		}
		l.began(6)
		<-term.Lost
	})
}
