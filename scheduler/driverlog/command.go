package driverlog

import "fmt"

// Bounds of what one command may hold. Larger things go to a blob store and their digest goes here.
const (
	// MaxName bounds the bytes of an application or node name.
	MaxName = 255
	// MaxInputs bounds the inputs of one batch.
	MaxInputs = 4096
	// MaxPayload bounds the input bytes of one Begin and the manifest bytes of any command.
	MaxPayload = 256 << 10
)

// Kind says what a Command decides.
type Kind uint8

// The kinds of commands: first those of a batch, in the order it meets them, then those of an application.
const (
	// LeaderStart opens a term: Node leads, and the command's log index is the epoch.
	LeaderStart Kind = 1 + iota
	// Begin fixes the id, the time and the inputs of a batch, before any of its work.
	Begin
	// Prepared fixes the output of a batch: from here on it is only rolled forward.
	Prepared
	// Committed says that every output of a batch has confirmed it.
	Committed
	// Application registers an application: its zero time and what it is. From here on the inputs of its
	// committed batches are kept until a checkpoint holds what came of them.
	Application
	// Checkpointed names a checkpoint that holds all up to a batch, and the batches whose inputs stay.
	Checkpointed
	// Control says what operators want of an application: that it runs, pauses or stops.
	Control
)

// String returns the kind's name as the papers write it.
func (k Kind) String() string {
	switch k {
	case LeaderStart:
		return "leader start"
	case Begin:
		return "begin"
	case Prepared:
		return "prepared"
	case Committed:
		return "committed"
	case Application:
		return "application"
	case Checkpointed:
		return "checkpointed"
	case Control:
		return "control"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// A RequestID makes the repetition of a command harmless: a log that still remembers the id
// answers as it did the first time. The zero id is not remembered.
//
// Proposer is any number no other proposer uses, such as the epoch of the term for its only batch loop; Seq
// counts the commands of that proposer.
type RequestID struct {
	Proposer, Seq uint64
}

// An Input is what one stream contributes to a batch: offset ranges or block names, in an encoding
// that only the stream's owner reads.
type Input struct {
	Stream int32
	Data   []byte
}

// A Command is one decision of a driver. Kind says which fields count; the others must be zero.
type Command struct {
	Kind     Kind
	Request  RequestID // optional
	Epoch    uint64    // all but LeaderStart: the epoch of the proposer's term
	Node     string    // LeaderStart: who leads
	App      string    // all but LeaderStart: the application, as everywhere in its life
	Batch    int64     // of batches: the id, from 0; Checkpointed: the last batch that the checkpoint holds
	Time     int64     // Begin: the batch time in milliseconds since the epoch of Unix; Application: the zero time
	Keep     int64     // Checkpointed: the first batch whose inputs stay, at most Batch+1
	Status   Status    // Control: what the application is to be
	Inputs   []Input   // Begin: kept in the order given
	Manifest []byte    // Prepared: the attempts that won; Application: what it is; Checkpointed: what it consists of
}

// Validate returns a *CommandError for a command that no state would accept.
func (c Command) Validate() error {
	bad := func(field, reason string) error {
		return &CommandError{Kind: c.Kind, Field: field, Reason: reason}
	}
	if c.Kind == LeaderStart {
		switch {
		case c.Node == "" || len(c.Node) > MaxName:
			return bad("Node", "must have 1 to 255 bytes")
		case c.Epoch != 0 || c.App != "" || c.Batch != 0 || c.Keep != 0 || c.Status != 0:
			return bad("Epoch, App, Batch, Keep and Status", "must be zero")
		}
	} else {
		switch {
		case c.Kind < Begin || c.Kind > Control:
			return bad("Kind", "is not known")
		case c.Epoch == 0:
			return bad("Epoch", "must be the epoch of a term")
		case c.Node != "":
			return bad("Node", "must be empty")
		case c.App == "" || len(c.App) > MaxName:
			return bad("App", "must have 1 to 255 bytes")
		case c.Batch < 0 || c.Batch > maxBatch:
			return bad("Batch", "must not be negative")
		case (c.Kind == Application || c.Kind == Control) && c.Batch != 0:
			return bad("Batch", "must be zero")
		case c.Kind != Checkpointed && c.Keep != 0:
			return bad("Keep", "must be zero")
		case c.Keep < 0 || c.Keep > c.Batch+1:
			return bad("Keep", "must be 0 to one past Batch")
		case c.Kind != Control && c.Status != 0:
			return bad("Status", "must be zero")
		case c.Status > Stopped:
			return bad("Status", "is not known")
		}
	}
	switch {
	case c.Kind != Begin && len(c.Inputs) != 0:
		return bad("Inputs", "must be empty")
	case c.Kind != Begin && c.Kind != Application && c.Time != 0:
		return bad("Time", "must be zero")
	case !c.Kind.hasManifest() && len(c.Manifest) != 0:
		return bad("Manifest", "must be empty")
	case len(c.Inputs) > MaxInputs:
		return bad("Inputs", "must not number more than 4096")
	case inputBytes(c.Inputs) > MaxPayload:
		return bad("Inputs", "must not hold more than 256 KiB")
	case len(c.Manifest) > MaxPayload:
		return bad("Manifest", "must not hold more than 256 KiB")
	}
	return nil
}

// hasManifest tells whether commands of kind k may carry a manifest.
func (k Kind) hasManifest() bool { return k == Prepared || k == Application || k == Checkpointed }

// maxBatch leaves room for one more, so that Next never overflows.
const maxBatch = 1<<63 - 2

func inputBytes(inputs []Input) int {
	n := 0
	for _, in := range inputs {
		n += len(in.Data)
	}
	return n
}
