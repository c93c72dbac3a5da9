package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files of manifests")

// strange arguments mean something to who reads a manifest, and must arrive as they are.
var strange = []string{"", "two words", `"quoted" 'text' \ back`, "$HOME ${HOME} $(HOME) %h %{if}", "{node}@{address}", ";", "# no comment", "é 💡", "-x=[a, b]: {c}"}

var manifests = map[string][]string{
	"systemd":            {"systemd", "-name", "wordcount", "-binary", "/usr/local/bin/wordcount", "-hosts", "one.example,two.example,three.example"},
	"systemd-one":        {"systemd", "-name", "wc", "-binary", "/opt/wc", "-nodes", "1", "-port", "80", "-data", "/srv/wc", "-tls", "/srv/tls"},
	"systemd-strange":    append([]string{"systemd", "-name", "wc", "-binary", "/opt/wc", "-nodes", "1", "--"}, strange...),
	"kubernetes":         {"kubernetes", "-name", "wordcount", "-image", "registry.example/wordcount:1.2", "-nodes", "5", "-size", "10Gi"},
	"kubernetes-strange": append([]string{"kubernetes", "-name", "wc", "-image", "wc@sha256:00", "-binary", "/opt/wc", "--"}, strange...),
	"nomad":              {"nomad", "-name", "wordcount", "-binary", "/usr/local/bin/wordcount"},
	"nomad-strange":      append([]string{"nomad", "-name", "wc", "-image", "wc:1", "--"}, strange...),
}

func TestManifests(t *testing.T) {
	for name, args := range manifests {
		t.Run(name, func(t *testing.T) {
			got := leat(t, append([]string{"manifest"}, args...)...)
			golden := filepath.Join("testdata", "manifest", name+".golden")
			if *rewrite {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the manifest is not %s (-want +got):\n%s", golden, diff)
			}
			for i, line := range strings.Split(got, "\n") {
				if strings.TrimRight(line, " \t") != line || strings.Contains(line, "%!") {
					t.Errorf("line %d: %q", i+1, line)
				}
			}
			for _, pair := range []string{"{}", "[]"} {
				if name == "nomad" && strings.Count(got, pair[:1]) != strings.Count(got, pair[1:]) {
					t.Errorf("%s do not match", pair)
				}
			}
		})
	}
}

// object is what a manifest of Kubernetes is made of.
type object struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	Spec       struct {
		Replicas    int
		ServiceName string `yaml:"serviceName"`
		ClusterIP   string `yaml:"clusterIP"`
		Template    struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				Containers []struct {
					Image         string
					Command, Args []string
					Ports         []struct {
						ContainerPort int `yaml:"containerPort"`
					}
					VolumeMounts []struct{ Name, MountPath string } `yaml:"volumeMounts"`
				}
				Volumes []struct{ Name string }
			}
		}
		VolumeClaimTemplates []struct {
			Metadata struct{ Name string }
			Spec     struct {
				Resources struct{ Requests struct{ Storage string } }
			}
		} `yaml:"volumeClaimTemplates"`
	}
}

func TestTheKubernetesManifestIsYAMLThatMeansWhatWasAsked(t *testing.T) {
	parse := func(args ...string) (all []object) {
		d := yaml.NewDecoder(strings.NewReader(leat(t, append([]string{"manifest"}, args...)...)))
		for {
			var o object
			if err := d.Decode(&o); err == io.EOF {
				return all
			} else if err != nil {
				t.Fatal(err)
			}
			all = append(all, o)
		}
	}
	all := parse(manifests["kubernetes"]...)
	kinds := []string(nil)
	for _, o := range all {
		kinds = append(kinds, o.APIVersion+" "+o.Kind+" "+o.Metadata.Name)
	}
	if want := []string{"v1 Service wordcount", "policy/v1 PodDisruptionBudget wordcount", "apps/v1 StatefulSet wordcount"}; !reflect.DeepEqual(kinds, want) {
		t.Fatalf("objects %q, want %q", kinds, want)
	}
	set := all[2].Spec
	pod := set.Template.Spec.Containers[0]
	if all[0].Spec.ClusterIP != "None" || set.ServiceName != "wordcount" || set.Replicas != 5 || pod.Image != "registry.example/wordcount:1.2" ||
		pod.Ports[0].ContainerPort != 7000 || set.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage != "10Gi" || pod.Command != nil {
		t.Errorf("the set is %+v", set)
	}
	if want := []string{"-node", "$(POD_NAME)", "-address", "$(POD_NAME).wordcount.$(POD_NAMESPACE).svc:7000", "-listen", ":7000", "-data", "/var/lib/wordcount", "-tls", "/etc/wordcount/tls"}; !reflect.DeepEqual(pod.Args, want) {
		t.Errorf("arguments %q, want %q", pod.Args, want)
	}
	mounted := map[string]bool{set.VolumeClaimTemplates[0].Metadata.Name: true}
	for _, v := range set.Template.Spec.Volumes {
		mounted[v.Name] = true
	}
	for _, m := range pod.VolumeMounts {
		if !mounted[m.Name] || m.Name == "data" && m.MountPath != "" && !strings.HasPrefix(m.MountPath, "/") {
			t.Errorf("mount %+v has no volume", m)
		}
	}
	pod = parse(manifests["kubernetes-strange"]...)[2].Spec.Template.Spec.Containers[0]
	want := append([]string(nil), strange...)
	want[3] = "$HOME ${HOME} $$(HOME) %h %{if}" // which the kubelet reads as it was
	want[4] = "$(POD_NAME)@$(POD_NAME).wc.$(POD_NAMESPACE).svc:7000"
	if !reflect.DeepEqual(pod.Args, want) || !reflect.DeepEqual(pod.Command, []string{"/opt/wc"}) {
		t.Errorf("arguments %q, want %q", pod.Args, want)
	}
}

func TestWrongManifests(t *testing.T) {
	good := []string{"-name", "wc", "-binary", "/opt/wc"}
	for _, args := range [][]string{
		{}, {"systemd"}, {"systemd", "-name", "wc"}, {"kubernetes", "-name", "wc"}, {"nomad", "-name", "wc"}, {"kubernetes", "-name", "wc", "-binary", "/opt/wc"},
		append([]string{"systemd", "-image", "x"}, good...), append([]string{"nomad", "-image", "x"}, good...), append([]string{"systemd", "argument"}, good...),
		append([]string{"systemd", "-nodes", "2"}, good...), append([]string{"systemd", "-nodes", "0"}, good...), append([]string{"systemd", "-nodes=-1"}, good...),
		append([]string{"systemd", "-nodes", "11"}, good...), append([]string{"systemd", "-nodes", "1000000000001"}, good...), append([]string{"systemd", "-port", "0"}, good...),
		append([]string{"systemd", "-port", "65536"}, good...), append([]string{"systemd", "-data", "data"}, good...), append([]string{"systemd", "-data", "/a/../b"}, good...),
		append([]string{"systemd", "-data", "/a\nExecStart=x"}, good...), append([]string{"systemd", "-tls", "/"}, good...), append([]string{"systemd", "-hosts", "a,b"}, good...),
		append([]string{"systemd", "-hosts", "a,b,c d"}, good...), append([]string{"systemd", "-size", "big"}, good...), append([]string{"systemd", "-o", "json"}, good...),
		{"systemd", "-name", "Word", "-binary", "/opt/wc"}, {"systemd", "-name", "a\nb", "-binary", "/opt/wc"}, {"systemd", "-name", "a", "-binary", "wc"},
		{"systemd", "-name", "a", "-binary", "/opt/wc", "--", "a\nb"}, {"systemd", "-name", "a", "-binary", "/opt/wc", "--", "\xff"}, {"kubernetes", "-name", "a", "-image", "a b"}, {"kubernetes", "-name", "true", "-image", "a"},
	} {
		if out, _ := fails(t, append([]string{"manifest"}, args...)...); out != "" {
			t.Errorf("leat manifest %q prints %q", args, out)
		}
	}
}
