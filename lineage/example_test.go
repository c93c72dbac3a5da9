package lineage_test

import (
	"fmt"

	"github.com/leat-io/leat/lineage"
)

// wordCount is textFile (0), flatMap (1) and, across a shuffle, reduceByKey (2).

func ExampleCut() {
	counts := wordCount(&graph{})
	for _, s := range lineage.Cut(counts) {
		fmt.Printf("stage %d ends at %s, has %d nodes and %d parents\n", s.ID, s.Final.Op(), len(s.Nodes), len(s.Parents))
	}
	// Output:
	// stage 0 ends at flatMap, has 2 nodes and 0 parents
	// stage 1 ends at reduceByKey, has 1 nodes and 1 parents
}

func ExampleShuffleParents() {
	var g graph
	top := g.narrow("map", wordCount(&g))
	for _, s := range lineage.ShuffleParents(top, nil) {
		fmt.Printf("shuffle %s of %s into %d\n", s.ID, s.Parent.Op(), s.NumReducers)
	}
	kept := func(n lineage.Node) bool { return n.Op() == "reduceByKey" } // persisted, and all there
	fmt.Println(len(lineage.ShuffleParents(top, kept)))
	// Output:
	// shuffle 2 of flatMap into 2
	// 0
}

func ExampleFingerprint() {
	monday := wordCount(&graph{scope: lineage.Scope{Batch: 1000, Stream: 1}, line: 10})
	tuesday := wordCount(&graph{scope: lineage.Scope{Batch: 2000, Stream: 1}, line: 99})
	fmt.Println(lineage.Fingerprint(monday) == lineage.Fingerprint(tuesday))
	tuesday.op = "groupByKey"
	fmt.Println(lineage.Fingerprint(monday) == lineage.Fingerprint(tuesday))
	// Output:
	// true
	// false
}

func ExampleText() {
	fmt.Print(lineage.Text(wordCount(&graph{line: 12})))
	// Output:
	// (2) reduceByKey[2] main.go:14
	//  +-(4) flatMap[1] main.go:13
	//     |  textFile[0] main.go:12
}

func ExampleDOT() {
	fmt.Print(lineage.DOT(wordCount(&graph{})))
	// Output:
	// digraph lineage {
	// 	node [shape=box];
	// 	subgraph cluster_0 {
	// 		label="stage 0";
	// 		"1" [label="flatMap[1]\n4 partitions"];
	// 		"0" [label="textFile[0]\n4 partitions"];
	// 	}
	// 	subgraph cluster_1 {
	// 		label="stage 1";
	// 		"2" [label="reduceByKey[2]\n2 partitions"];
	// 	}
	// 	"1" -> "2" [style=dashed];
	// 	"0" -> "1";
	// }
}
