package golden

import (
	"errors"
	"io/fs"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

// streamClasses are the names that cases have for the errors of streams.
var streamClasses = []struct {
	name string
	err  error
}{
	{"ErrContextActive", dstream.ErrContextActive},
	{"ErrContextStopped", dstream.ErrContextStopped},
	{"ErrAnotherContextActive", streamingcontext.ErrAnotherContextActive},
	{"ErrNoOutputOps", dstream.ErrNoOutputOps},
	{"ErrBatchDurationUnset", streamingcontext.ErrBatchDurationUnset},
	{"ErrNotInitialized", dstream.ErrNotInitialized},
	{"ErrCheckpointDirNotSet", dstream.ErrCheckpointDirNotSet},
	{"ErrBadCheckpointInterval", dstream.ErrBadCheckpointInterval},
	{"ErrNoStorageLevel", dstream.ErrNoStorageLevel},
	{"ErrRememberTooShort", dstream.ErrRememberTooShort},
	{"ErrRememberAlreadySet", dstream.ErrRememberAlreadySet},
	{"ErrBadWindow", dstream.ErrBadWindow},
	{"ErrBadSlide", dstream.ErrBadSlide},
	{"ErrNoParents", dstream.ErrNoParents},
	{"ErrDifferentContexts", dstream.ErrDifferentContexts},
	{"ErrDifferentSlides", dstream.ErrDifferentSlides},
	{"ErrParentAbsent", dstream.ErrParentAbsent},
	{"ErrNilRDD", dstream.ErrNilRDD},
	{"ErrNoState", dstream.ErrNoState},
	{"ErrStateRemoved", dstream.ErrStateRemoved},
	{"ErrStateTimingOut", dstream.ErrStateTimingOut},
	{"ErrQueueNotRecoverable", streamingcontext.ErrQueueNotRecoverable},
	{"ErrDuplicateInputInfo", dstream.ErrDuplicateInputInfo},
	{"ErrNegativeRecords", dstream.ErrNegativeRecords},
	{"ErrStopInListener", streamingcontext.ErrStopInListener},
	{"ErrInputMissing", fs.ErrNotExist},
	{"ErrUser", ErrOutput},
	{"ErrArgument", dstream.ErrArgument},
	{"ErrArgument", dstream.ErrBadDuration},
}

// StreamErrorClass returns the name that DStream cases have for an error, empty for none or an unknown one.
func StreamErrorClass(err error) string {
	for _, c := range streamClasses {
		if errors.Is(err, c.err) {
			return c.name
		}
	}
	var panicked *rdd.PanicError
	var inDriver *streamingcontext.PanicError
	if errors.As(err, &panicked) || errors.As(err, &inDriver) {
		return "ErrUser"
	}
	return ErrorClass(err)
}
