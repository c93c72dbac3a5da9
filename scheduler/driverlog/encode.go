package driverlog

import "encoding/binary"

// Format versions of a command. Version 1 has no keep, and no kinds past Committed; version 3 has a status, and Control alone. So what was
// written before, and logs without a Control, are the same for builds that do not know it.
const (
	commandVersion        = 2
	controlCommandVersion = 3
)

// version returns that which a command is written in.
func (c Command) version() byte {
	if c.Kind == Control {
		return controlCommandVersion
	}
	return commandVersion
}

// Append returns dst with the encoding of c behind it. Equal commands have equal bytes.
//
// Shape, version 2, and 3 for Control alone; integers are varints in their shortest form, signed ones zigzag, and
// strings and bytes have their length in front:
//
//	version    byte, 2 or 3
//	kind       byte
//	proposer   unsigned, with seq the request id
//	seq        unsigned
//	epoch      unsigned
//	node       string
//	app        string
//	batch      unsigned
//	time       signed
//	keep       unsigned; version 1 has none
//	status     byte; only in version 3
//	inputs     unsigned count, then of each: stream signed, data bytes
//	manifest   bytes
//
// There is no checksum: a log frames and checks its records itself.
func (c Command) Append(dst []byte) []byte {
	dst = append(dst, c.version(), byte(c.Kind))
	dst = binary.AppendUvarint(dst, c.Request.Proposer)
	dst = binary.AppendUvarint(dst, c.Request.Seq)
	dst = binary.AppendUvarint(dst, c.Epoch)
	dst = appendBytes(dst, c.Node)
	dst = appendBytes(dst, c.App)
	dst = binary.AppendUvarint(dst, uint64(c.Batch))
	dst = binary.AppendVarint(dst, c.Time)
	dst = binary.AppendUvarint(dst, uint64(c.Keep))
	if c.Kind == Control {
		dst = append(dst, byte(c.Status))
	}
	dst = appendInputs(dst, c.Inputs)
	return appendBytes(dst, c.Manifest)
}

// DecodeCommand returns the command that Append wrote, in this version or an earlier one. Its slices are its own.
//
// Errors: *VersionError; *CorruptError; *CommandError for what Validate refuses.
func DecodeCommand(data []byte) (Command, error) {
	d := decoder{data: data}
	version := d.version(controlCommandVersion)
	c := Command{Kind: Kind(d.byte("kind"))}
	c.Request = RequestID{Proposer: d.uvarint("proposer"), Seq: d.uvarint("seq")}
	c.Epoch = d.uvarint("epoch")
	c.Node = string(d.bytes("node", MaxName))
	c.App = string(d.bytes("app", MaxName))
	c.Batch = int64(d.uvarint("batch"))
	c.Time = d.varint("time")
	if version > 1 {
		c.Keep = int64(d.uvarint("keep"))
	} else {
		d.require(c.Kind <= Committed, "kind")
	}
	d.require((c.Kind == Control) == (version == controlCommandVersion), "kind")
	if version == controlCommandVersion {
		c.Status = Status(d.byte("status"))
	}
	c.Inputs = d.inputs()
	c.Manifest = append([]byte(nil), d.bytes("manifest", MaxPayload)...)
	d.end()
	if d.err != nil {
		return Command{}, d.err
	}
	if err := c.Validate(); err != nil {
		return Command{}, err
	}
	return c, nil
}

func appendBytes[B string | []byte](dst []byte, b B) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	return append(dst, b...)
}

func appendInputs(dst []byte, inputs []Input) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(inputs)))
	for _, in := range inputs {
		dst = binary.AppendVarint(dst, int64(in.Stream))
		dst = appendBytes(dst, in.Data)
	}
	return dst
}
