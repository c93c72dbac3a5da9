package sinktest

import (
	"testing"

	"github.com/leat-io/leat/dstream/sink"
)

// Run runs the suite. open returns a target on new storage; what it opened it closes with t.Cleanup.
func Run[T any](t *testing.T, open func(t *testing.T) Target[T]) {
	for _, c := range checks[T]() {
		t.Run(c.name, func(t *testing.T) {
			c.run(&suite[T]{T: t, ctx: t.Context(), Target: open(t)})
		})
	}
}

// A check is one thing that every sink does.
type check[T any] struct {
	name string
	run  func(s *suite[T])
}

func checks[T any]() []check[T] {
	return []check[T]{
		{"nothing_shows_before_commit_and_all_after", visibility[T]},
		{"a_reader_beside_commits_sees_whole_batches/INV-2", beside[T]},
		{"rows_keep_the_order_of_batches_and_partitions", order[T]},
		{"commit_again_changes_nothing", again[T]},
		{"another_process_commits_what_was_staged", elsewhere[T]},
		{"tries_without_commit_show_nothing/INV-4", tries[T]},
		{"of_two_attempts_the_named_one_shows/INV-4", attempts[T]},
		{"an_aborted_attempt_shows_nothing", aborted[T]},
		{"a_part_written_to_by_many_tasks_at_once", concurrent[T]},
		{"other_rows_for_a_committed_batch_are_refused", conflicts[T]},
		{"lower_epochs_are_refused/INV-13", fences[T]},
		{"a_driver_rolls_forward_what_another_prepared", rollForward[T]},
		{"last_tells_what_was_committed", marks[T]},
		{"empty_batches_count", empties[T]},
		{"batches_may_be_missing", gaps[T]},
		{"outputs_and_applications_are_kept_apart", apart[T]},
		{"clean_keeps_committed_rows", cleaning[T]},
		{"clean_leaves_later_batches_alone", cleaningLater[T]},
		{"an_ended_context_is_obeyed", contexts[T]},
		{"many_rows", many[T]},
	}
}

// none is the mark of an output that has nothing.
var none = sink.Mark{ID: -1}
