package s3test

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Server is an object store in memory, with one bucket.
type Server struct {
	bucket string

	mu      sync.Mutex // guards the fields below
	objects map[string]object
	uploads map[string]*multipart
	page    int
	ignores bool
	calls   int
	plan    Plan
}

type object struct {
	data []byte // never changed
	etag string
	meta http.Header
}

type multipart struct {
	key   string
	meta  http.Header
	parts map[int]object
}

// New returns a server with an empty bucket.
func New(bucket string) *Server {
	return &Server{bucket: bucket, objects: make(map[string]object), uploads: make(map[string]*multipart), page: 1000}
}

// SetPage sets how many objects a response lists at most.
func (s *Server) SetPage(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.page = n
}

// IgnoreConditions makes the server ignore the conditions of writes, as some do.
func (s *Server) IgnoreConditions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ignores = true
}

// Keys returns the keys of all objects, in order.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

// Uploads returns how many uploads in parts have not ended.
func (s *Server) Uploads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.uploads)
}

// Damage changes a byte of an object, and nothing that is known of it.
func (s *Server) Damage(key string, at int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[key]
	o.data = bytes.Clone(o.data)
	o.data[at] ^= 1
	s.objects[key] = o
}

// maxBody bounds a request's body.
const maxBody = 256 << 20

// minPart is what the protocol asks of all parts but the last.
const minPart = 5 << 20

// fault is an answer that is an error.
type fault struct {
	status  int
	code    string
	message string
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	f := s.next(r, key)
	switch f {
	case Unavailable:
		answer(w, r, fault{http.StatusServiceUnavailable, "SlowDown", "Please reduce your request rate."})
		return
	case Conflict:
		answer(w, r, fault{http.StatusConflict, "ConditionalRequestConflict", "A conflicting conditional operation is in progress."})
		return
	case Dropped:
		panic(http.ErrAbortHandler) // closes the connection
	}
	out := &response{header: make(http.Header)}
	if e := s.serve(out, r, bucket, key, body); e != nil {
		if f == Lost {
			panic(http.ErrAbortHandler)
		}
		answer(w, r, *e)
		return
	}
	if f == Lost {
		panic(http.ErrAbortHandler)
	}
	if f == Garbled && len(out.body) > 0 {
		out.body = bytes.Clone(out.body)
		out.body[len(out.body)/2] ^= 1
	}
	maps.Copy(w.Header(), out.header)
	w.Header().Set("Content-Length", strconv.Itoa(max(out.length, len(out.body))))
	w.WriteHeader(max(out.status, http.StatusOK))
	if f == Cut {
		_, _ = w.Write(out.body[:len(out.body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(out.body) // a client that has gone needs no answer
}

// response is an answer that is not sent yet.
type response struct {
	status int
	header http.Header
	body   []byte
	length int // of the body, of an answer without one
}

func answer(w http.ResponseWriter, r *http.Request, f fault) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(f.status)
	if r.Method != http.MethodHead {
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message><Resource>%s</Resource></Error>", f.code, f.message, "/")
	}
}

// serve does what a request asks for.
func (s *Server) serve(w *response, r *http.Request, bucket, key string, body []byte) *fault {
	if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ") {
		return &fault{http.StatusForbidden, "AccessDenied", "not signed"}
	}
	if f := checkBody(r, body); f != nil {
		return f
	}
	if bucket != s.bucket {
		return &fault{http.StatusNotFound, "NoSuchBucket", "no such bucket"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	switch {
	case key == "" && r.Method == http.MethodGet && q.Get("list-type") == "2":
		return s.list(w, q)
	case key == "" && r.Method == http.MethodPost && q.Has("delete"):
		return s.removeMany(w, body)
	case key == "":
		return &fault{http.StatusNotImplemented, "NotImplemented", "of a bucket"}
	case r.Method == http.MethodPut && q.Has("uploadId"):
		return s.part(w, q, body)
	case r.Method == http.MethodPut:
		return s.put(w, r, key, body)
	case r.Method == http.MethodPost && q.Has("uploads"):
		return s.begin(w, r, key)
	case r.Method == http.MethodPost && q.Has("uploadId"):
		return s.complete(w, key, q.Get("uploadId"), body)
	case r.Method == http.MethodDelete && q.Has("uploadId"):
		delete(s.uploads, q.Get("uploadId"))
		w.status = http.StatusNoContent
		return nil
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.status = http.StatusNoContent
		return nil
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		return s.get(w, r, key)
	}
	return &fault{http.StatusNotImplemented, "NotImplemented", r.Method}
}

// checkBody compares a body with the digests that came with it.
func checkBody(r *http.Request, body []byte) *fault {
	sum, sum5 := sha256.Sum256(body), md5.Sum(body)
	if want := r.Header.Get("X-Amz-Content-Sha256"); want != "UNSIGNED-PAYLOAD" && want != hex.EncodeToString(sum[:]) {
		return &fault{http.StatusBadRequest, "XAmzContentSHA256Mismatch", "the body has another digest, or one of chunks"}
	}
	if want := r.Header.Get("Content-Md5"); want != "" && want != base64.StdEncoding.EncodeToString(sum5[:]) {
		return &fault{http.StatusBadRequest, "BadDigest", "the body has another digest"}
	}
	return nil
}

// metadata returns what an object is to say of itself.
func metadata(r *http.Request) http.Header {
	meta := make(http.Header)
	for name, values := range r.Header {
		if strings.HasPrefix(name, "X-Amz-Meta-") {
			meta[name] = values
		}
	}
	return meta
}

func newObject(data []byte, meta http.Header) object {
	sum := md5.Sum(data)
	return object{data: data, etag: hex.EncodeToString(sum[:]), meta: meta}
}

func (s *Server) put(w *response, r *http.Request, key string, body []byte) *fault {
	old, there := s.objects[key]
	match := strings.Trim(r.Header.Get("If-Match"), `"`)
	switch {
	case s.ignores:
	case r.Header.Get("If-None-Match") == "*" && there:
		return &fault{http.StatusPreconditionFailed, "PreconditionFailed", "it exists"}
	case match != "" && !there:
		return &fault{http.StatusNotFound, "NoSuchKey", "no such object"}
	case match != "" && match != old.etag:
		return &fault{http.StatusPreconditionFailed, "PreconditionFailed", "it has another tag"}
	}
	o := newObject(body, metadata(r))
	s.objects[key] = o
	w.header.Set("ETag", `"`+o.etag+`"`)
	return nil
}

func (s *Server) get(w *response, r *http.Request, key string) *fault {
	o, there := s.objects[key]
	if !there {
		return &fault{http.StatusNotFound, "NoSuchKey", "no such object"}
	}
	if match := strings.Trim(r.Header.Get("If-Match"), `"`); match != "" && match != o.etag {
		return &fault{http.StatusPreconditionFailed, "PreconditionFailed", "it has another tag"}
	}
	maps.Copy(w.header, o.meta)
	w.header.Set("ETag", `"`+o.etag+`"`)
	w.header.Set("Last-Modified", time.Unix(0, 0).UTC().Format(http.TimeFormat))
	w.header.Set("Content-Type", "application/octet-stream")
	data := o.data
	if want, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok {
		from, to, _ := strings.Cut(want, "-")
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || first > last || first >= len(data) {
			return &fault{http.StatusRequestedRangeNotSatisfiable, "InvalidRange", want}
		}
		last = min(last, len(data)-1)
		w.status = http.StatusPartialContent
		w.header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, len(data)))
		data = data[first : last+1]
	}
	if r.Method == http.MethodHead {
		w.length = len(data)
		return nil
	}
	w.body = data
	return nil
}

func (w *response) xml(v any) *fault {
	body, err := xml.Marshal(v)
	if err != nil {
		return &fault{http.StatusInternalServerError, "InternalError", err.Error()}
	}
	w.header.Set("Content-Type", "application/xml")
	w.body = append([]byte(xml.Header), body...)
	return nil
}
