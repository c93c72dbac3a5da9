package golden

import (
	"encoding/json"
	"errors"
	"testing"
)

// words are hand-made cases for the words that the recorded ones leave out.
const words = `[
{"id":"functions","ops":[
  {"n":"a","op":"parallelize","data":[5,-3,12],"parts":2},
  {"n":"w","op":"parallelize","data":["ab","","c"],"parts":1},
  {"n":"str","op":"map","in":"a","f":"str"}, {"n":"int","op":"map","in":"str","f":"int"},
  {"n":"kc","op":"map","in":"a","f":"key-const:k"}, {"n":"km","op":"map","in":"a","f":"key-mod:3"},
  {"n":"fc","op":"map","in":"w","f":"first-char"}, {"n":"kf","op":"map","in":"w","f":"key-first"},
  {"n":"ps","op":"map","in":"km","f":"pair-sum"}, {"n":"vn","op":"map","in":"km","f":"v:neg"},
  {"n":"up","op":"flatMap","in":"a","f":"upto"}, {"n":"no","op":"flatMap","in":"a","f":"nothing"},
  {"n":"pl","op":"mapPartitions","in":"a","f":"list"}, {"n":"psum","op":"mapPartitions","in":"a","f":"sum"},
  {"n":"pmax","op":"mapPartitions","in":"no","f":"max"}, {"n":"pt","op":"mapPartitions","in":"a","f":"take:1"},
  {"n":"g","op":"groupByKey","in":"kc","num":1}, {"n":"gs","op":"mapValues","in":"g","f":"sum"},
  {"n":"gi","op":"flatMapValues","in":"g","f":"items"}, {"n":"odd","op":"filter","in":"a","f":"odd"},
  {"n":"lt","op":"filter","in":"a","f":"lt:5"}, {"n":"even","op":"filter","in":"a","f":"even"},
  {"n":"cg","op":"cogroup","in":["km","km","km"],"num":1}, {"n":"sz","op":"mapValues","in":"cg","f":"sizes"},
  {"n":"lj","op":"leftOuterJoin","in":["km","vn"],"num":1}, {"n":"or","op":"mapValues","in":"lj","f":"snd"},
  {"n":"oo","op":"mapValues","in":"or","f":"opt-or:7"}],
 "do":[
  {"act":"collect","of":"str","cmp":"ordered","want":["5","-3","12"]},
  {"act":"collect","of":"int","cmp":"ordered","want":[5,-3,12]},
  {"act":"collect","of":"kc","cmp":"ordered","want":[["k",5],["k",-3],["k",12]]},
  {"act":"collect","of":"km","cmp":"ordered","want":[[2,5],[0,-3],[0,12]]},
  {"act":"collect","of":"fc","cmp":"ordered","want":["a","","c"]},
  {"act":"collect","of":"kf","cmp":"ordered","want":[["a","ab"],["",""],["c","c"]]},
  {"act":"collect","of":"ps","cmp":"ordered","want":[7,-3,12]},
  {"act":"collect","of":"vn","cmp":"ordered","want":[[2,-5],[0,3],[0,-12]]},
  {"act":"count","of":"up","want":17}, {"act":"count","of":"no","want":0},
  {"act":"collect","of":"pl","cmp":"ordered","want":[{"l":[5]},{"l":[-3,12]}]},
  {"act":"collect","of":"psum","cmp":"ordered","want":[5,9]},
  {"act":"collect","of":"pmax","cmp":"ordered","want":[]},
  {"act":"collect","of":"pt","cmp":"ordered","want":[5,-3]},
  {"act":"collect","of":"gs","cmp":"ordered","want":[["k",14]]},
  {"act":"collect","of":"gi","cmp":"bag","want":[["k",-3],["k",5],["k",12]]},
  {"act":"collect","of":"odd","cmp":"ordered","want":[5,-3]},
  {"act":"collect","of":"lt","cmp":"ordered","want":[-3]},
  {"act":"collect","of":"even","cmp":"ordered","want":[12]},
  {"act":"collect","of":"sz","cmp":"bag","want":[[0,[2,2,2]],[2,[1,1,1]]]},
  {"act":"collect","of":"oo","cmp":"bag","want":[[0,3],[0,-12],[0,3],[0,-12],[2,-5]]}]},
{"id":"by key","ops":[
  {"n":"a","op":"parallelize","data":[[11,1],[25,2],[13,3],[-5,4]],"parts":2},
  {"n":"t","op":"partitionBy","in":"a","p":"tens:3"}, {"n":"o","op":"reduceByKey","in":"a","f":"add","p":"of:t"},
  {"n":"f","op":"foldByKey","in":"a","zero":10,"f":"add","num":2},
  {"n":"k","op":"map","in":"a","f":"k:mod:2"},
  {"n":"c1","op":"combineByKey","in":"k","f":"calls","num":1},
  {"n":"c2","op":"combineByKey","in":"k","f":"calls","num":1,"mapSide":false},
  {"n":"b","op":"aggregateByKey","in":"k","zero":{"b":[]},"seq":"collect","comb":"cat","num":1},
  {"n":"sc","op":"aggregateByKey","in":"k","zero":[0,0],"seq":"sum-count","comb":"pair-add","num":1},
  {"n":"s","op":"sortByKey","in":"a","num":4}, {"n":"r","op":"filterByRange","in":"s","lo":11,"hi":13},
  {"n":"q","op":"filterByRange","in":"a","lo":11,"hi":13}],
 "do":[
  {"act":"parts","of":"t","cmp":"parts","want":{"parts":[[[-5,4]],[[11,1],[13,3]],[[25,2]]]}},
  {"act":"partitioner","of":"t","want":"tens:3"}, {"act":"partitioner","of":"o","want":"tens:3"},
  {"act":"parts","of":"o","cmp":"parts","want":{"parts":[[[-5,4]],[[11,1],[13,3]],[[25,2]]]}},
  {"act":"collect","of":"f","cmp":"bag","want":[[-5,14],[11,11],[13,13],[25,12]]},
  {"act":"collect","of":"c1","cmp":"ordered","want":[[1,10202]]},
  {"act":"collect","of":"c2","cmp":"ordered","want":[[1,301]]},
  {"act":"collect","of":"b","cmp":"ordered","want":[[1,{"b":[1,2,3,4]}]]},
  {"act":"collect","of":"sc","cmp":"ordered","want":[[1,[10,4]]]},
  {"act":"npart","of":"s","want":4}, {"act":"partitioner","of":"s","want":"range:4"},
  {"act":"parts","of":"r","cmp":"ordered","want":{"parts":[[[11,1]],[[13,3]]]}},
  {"act":"partitioner","of":"r","want":"none"}, {"act":"npart","of":"q","want":2},
  {"act":"collect","of":"q","cmp":"ordered","want":[[11,1],[13,3]]}],
 "buildJobs":[{"tasks":[2],"skipped":0}]},
{"id":"layout","ops":[
  {"n":"a","op":"parallelize","data":[1,2,3],"parts":2}, {"n":"b","op":"parallelize","data":[7,8,9],"parts":2},
  {"n":"s","op":"parallelize","data":[7,8,9,6],"parts":2},
  {"n":"c","op":"cartesian","in":["a","b"]}, {"n":"z","op":"zip","in":["a","b"]}, {"n":"y","op":"zip","in":["a","s"]},
  {"n":"u","op":"zipWithUniqueId","in":"a"}, {"n":"k","op":"cache","in":"a"}, {"n":"e","op":"empty"},
  {"n":"ec","op":"coalesce","in":"e","num":3}, {"n":"er","op":"repartition","in":"e","num":3}],
 "do":[
  {"act":"parts","of":"c","cmp":"ordered","want":{"parts":[[[1,7]],[[1,8],[1,9]],[[2,7],[3,7]],[[2,8],[2,9],[3,8],[3,9]]]}},
  {"act":"parts","of":"z","cmp":"ordered","want":{"parts":[[[1,7]],[[2,8],[3,9]]]}},
  {"act":"first","of":"y","want":[1,7]},
  {"act":"count","of":"y","error":"ErrZip"},
  {"act":"parts","of":"u","cmp":"ordered","want":{"parts":[[[1,0]],[[2,1],[3,3]]]}},
  {"act":"same","of":"k","as":"a","want":true}, {"act":"deps","of":"c","want":["narrow","narrow"]},
  {"act":"count","of":"k","jobs":[{"tasks":[2],"skipped":0}],"want":3},
  {"act":"npart","of":"ec","want":0}, {"act":"parts","of":"er","cmp":"bag","want":{"n":3,"rows":[]}}]},
{"id":"actions","ops":[
  {"n":"a","op":"parallelize","data":[3,1,2,2],"parts":3}, {"n":"e","op":"empty"},
  {"n":"p","op":"parallelize","data":[["x",1],["y",2],["x",5]],"parts":2},
  {"n":"w","op":"parallelize","data":["a","bc"],"parts":2}],
 "do":[
  {"act":"reduce","of":"a","f":"sub","want":2}, {"act":"reduce","of":"w","f":"concat","want":"abc"},
  {"act":"treeReduce","of":"e","f":"add","depth":2,"error":"ErrEmpty"},
  {"act":"treeAggregate","of":"e","zero":4,"seq":"add","comb":"add","depth":2,"want":4},
  {"act":"aggregate","of":"w","zero":0,"seq":"len-add","comb":"add","want":3},
  {"act":"top","of":"a","k":2,"want":[3,2]}, {"act":"takeOrdered","of":"a","k":3,"want":[1,2,2]},
  {"act":"takeOrdered","of":"a","k":0,"jobs":[],"want":[]}, {"act":"top","of":"e","k":2,"jobs":[],"want":[]},
  {"act":"max","of":"a","want":3}, {"act":"min","of":"a","want":1}, {"act":"sum","of":"a","want":8.0},
  {"act":"mean","of":"a","want":2.0},
  {"act":"stats","of":"a","want":{"count":4,"mean":2.0,"sum":8.0,"min":1.0,"max":3.0,"variance":0.5,"sampleVariance":0.6666666666666666}},
  {"act":"stats","of":"e","want":{"count":0,"variance":"NaN","max":"-Inf","min":"+Inf"}},
  {"act":"histogram","of":"a","buckets":2,"jobs":[{"tasks":[3],"skipped":0},{"tasks":[3],"skipped":0}],"want":{"edges":[1,2,3],"counts":[1,3]}},
  {"act":"histogram","of":"a","buckets":0,"error":"ErrArgument"},
  {"act":"histogram","of":"a","edges":[2,1],"error":"ErrArgument"},
  {"act":"countByValue","of":"a","want":[[1,1],[2,2],[3,1]]}, {"act":"countByKey","of":"p","want":[["x",2],["y",1]]},
  {"act":"collectAsMap","of":"p","want":[["x",5],["y",2]]},
  {"act":"reduceByKeyLocally","of":"p","f":"add","jobs":[{"tasks":[2],"skipped":0}],"want":[["x",6],["y",2]]},
  {"act":"reduceByKeyLocally","of":"e","f":"add","error":"ErrEmpty"},
  {"act":"lookup","of":"p","key":"x","cmp":"ordered","want":[1,5]},
  {"act":"toLocalIterator","of":"a","cmp":"ordered","jobs":[{"tasks":[1],"skipped":0},{"tasks":[1],"skipped":0},{"tasks":[1],"skipped":0}],"want":[3,1,2,2]}]}
]`

// TestVocabulary runs the hand-made cases in both modes.
func TestVocabulary(t *testing.T) {
	var raws []json.RawMessage
	if err := json.Unmarshal([]byte(words), &raws); err != nil {
		t.Fatal(err)
	}
	for _, raw := range raws {
		var c Case
		var rc RDDCase
		if err := errors.Join(json.Unmarshal(raw, &c), json.Unmarshal(raw, &rc)); err != nil {
			t.Fatal(err)
		}
		for name, opts := range map[string]Options{"shared": {}, "isolated": {Isolate: true}} {
			t.Run(c.ID+"/"+name, func(t *testing.T) {
				if err := rc.Run(t.Context(), opts); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestUnknownWordsAreReported proves that a word of no vocabulary is named, wherever it stands.
func TestUnknownWordsAreReported(t *testing.T) {
	a := `{"n":"a","op":"parallelize","data":[1],"parts":1}`
	for name, text := range map[string]string{
		"operation shuffleCards":        `{"ops":[` + a + `,{"n":"b","op":"shuffleCards","in":"a"}],"do":[]}`,
		"map function twice":            `{"ops":[` + a + `,{"n":"b","op":"map","in":"a","f":"twice"}],"do":[]}`,
		"action guess":                  `{"ops":[` + a + `],"do":[{"act":"guess","of":"a","want":1}]}`,
		"setting spark.unknown":         `{"ops":[` + a + `],"do":[],"context":{"spark.unknown":1}}`,
		"partitioner mood:2":            `{"ops":[` + a + `,{"n":"b","op":"partitionBy","in":"a","p":"mood:2"}],"do":[]}`,
		"statistic kurtosis":            `{"ops":[` + a + `],"do":[{"act":"stats","of":"a","want":{"kurtosis":1}}]}`,
		"function of two arguments pow": `{"ops":[` + a + `],"do":[{"act":"reduce","of":"a","f":"pow","want":1}]}`,
	} {
		var rc RDDCase
		if err := json.Unmarshal([]byte(text), &rc); err != nil {
			t.Fatal(err)
		}
		var missing *NotBuiltError
		if err := rc.Run(t.Context(), Options{}); !errors.As(err, &missing) || missing.What+" "+missing.Name != name {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
