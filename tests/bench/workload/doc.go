// Package workload makes the data that benchmarks run on, and knows the right answers.
//
// All data come from one counter-based generator: [Mix] scrambles a word, [Key] gives each stream
// of draws its own key, and a [Stream] returns draw j of record i from those two numbers alone. So
// any record can be made from its index, in parallel, in another process, or again after a
// failure. On top of it lie [Below] (a number under a bound), [Zipf] (a skewed rank), [Letters]
// (arbitrary text) and [UUID]; [EventTime] gives record i its time.
//
// The workloads are [Integers] (W0, a narrow chain), [Text] (W1, lines of words), [Pairs] (W2,
// keyed windows, also with text keys for W6, shuffles), [Lineage] (W13, lineage and recomputation) and
// [Overhead] (W7, empty jobs). Their answers are [ChainWant], [TextWant], [TextWindowWant], [PairsWant],
// [PairsWindowWant], [ShuffleSizesWant] and [LineageWant]; a run whose answer differs does not count.
//
//	text, err := workload.NewText(workload.DefaultSeed, workload.TextOptions{})
//	if err != nil {
//		return err
//	}
//	var file bytes.Buffer
//	if err := text.Write(&file, 0, workload.S.Records()); err != nil {
//		return err
//	}
//	want, _ := workload.TextWant(workload.S)
//	fmt.Println(file.Len() == want.Bytes)
//
// Guarantees: the same seed and index give the same record in every build on every platform; only
// integer arithmetic is used. The answers hold for [DefaultSeed]. Generators are immutable once
// built and may be read from any goroutine.
//
// Not here: the programs that are measured. The plain Go ones are in package peer.
//
// Sources: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014
// (the scrambling function and the increment); Gray et al., "Quickly Generating Billion-Record
// Synthetic Databases", SIGMOD 1994 (skewed ranks).
package workload
