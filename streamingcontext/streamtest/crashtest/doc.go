// Package crashtest runs a streaming program under every crash that the kit can think of, and says which promise
// broke.
//
// A [Program] is a setup function and how many batches it runs for. A [World] is what outlives its processes: the driver log, a
// disk whose power can be cut, inputs and sinks. Every operation of a process on the world is a point, with a name: "log begin",
// "input words replay", "sink commit rows", "store put state/#", "disk sync #". A [Fault] is what happens at a point. A [Promise] is what must hold
// whatever happens, and a [Report] has those that did not, each with the shortest history that breaks it.
//
//	func TestCrashes(t *testing.T) {
//		crashtest.Run(t, crashtest.Program{Batches: 4, Setup: func(ssc *streamingcontext.Context, w *crashtest.World) error {
//			words := crashtest.Input(ssc, w, "words", [][]string{{"ada", "bo"}, {"ada"}, {"bo", "bo"}})
//			counts := dstream.UpdateStateByKey(dstream.CountByValue(words), addUp)
//			rows := dstream.Map(counts, func(p rdd.Pair[string, int64]) string { return fmt.Sprint(p.Key, p.Value) })
//			crashtest.Save(rows, w, "totals")
//			return nil
//		}})
//	}
//
// First the program runs undisturbed: that gives the rows of each batch, and the points. Then it runs once for each case: at a
// point of its first process, or of the recovery after it has died somewhere, or of the recovery from a death in
// recovery, the process dies before the operation or after it, or the operation fails, or seems to fail and has its effect. What dies loses
// what was not synced. Programs are started again until all batches are done, and once more for a batch that follows. Then the
// promises are checked.
//
// Guarantees: the seed chooses the cases. Processes are programs on goroutines, so points may come in another order each
// time: a case is a point's name and which time it comes. A process that has died has no effect on the world any more. A promise that
// is kept in all cases may still break in one that was not run; Report says which were.
//
// Setup is called from a goroutine of a process, twice in each, and must declare the same each time. What outlives processes it takes from the
// World; all else is new each time. Methods of a World may be called from any goroutine.
//
// Not here: processes that stand still and wake up while another leads; damage of files that were synced; the local folder of
// the context loses nothing, and boltlog's own tests cut the power of driver logs.
//
// Sources: Zaharia et al., "Discretized Streams", SOSP 2013; Pillai et al., "All File Systems Are Not Created Equal", OSDI 2014.
package crashtest
