package s3test

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

func (s *Server) begin(w *response, r *http.Request, key string) *fault {
	id := strconv.Itoa(s.calls)
	s.uploads[id] = &multipart{key: key, meta: metadata(r), parts: make(map[int]object)}
	return w.xml(struct {
		XMLName               xml.Name `xml:"InitiateMultipartUploadResult"`
		Bucket, Key, UploadId string
	}{Bucket: s.bucket, Key: key, UploadId: id})
}

func (s *Server) part(w *response, q url.Values, body []byte) *fault {
	u := s.uploads[q.Get("uploadId")]
	n, err := strconv.Atoi(q.Get("partNumber"))
	if u == nil || err != nil || n < 1 || n > 10_000 {
		return &fault{http.StatusNotFound, "NoSuchUpload", "no such upload"}
	}
	o := newObject(body, nil)
	u.parts[n] = o
	w.header.Set("ETag", `"`+o.etag+`"`)
	return nil
}

func (s *Server) complete(w *response, key, id string, body []byte) *fault {
	u := s.uploads[id]
	if u == nil || u.key != key {
		return &fault{http.StatusNotFound, "NoSuchUpload", "no such upload"}
	}
	var list struct {
		Part []struct {
			PartNumber int
			ETag       string
		}
	}
	if err := xml.Unmarshal(body, &list); err != nil {
		return &fault{http.StatusBadRequest, "MalformedXML", "not a list of parts"}
	}
	var data, sums []byte
	for i, p := range list.Part {
		o, there := u.parts[p.PartNumber]
		if !there || o.etag != strings.Trim(p.ETag, `"`) || i > 0 && list.Part[i-1].PartNumber >= p.PartNumber {
			return &fault{http.StatusBadRequest, "InvalidPart", "no such part"}
		}
		if i < len(list.Part)-1 && len(o.data) < minPart {
			return &fault{http.StatusBadRequest, "EntityTooSmall", "a part is too small"}
		}
		sum := md5.Sum(o.data)
		data, sums = append(data, o.data...), append(sums, sum[:]...)
	}
	sum := md5.Sum(sums)
	s.objects[key] = object{data: data, etag: fmt.Sprintf("%s-%d", hex.EncodeToString(sum[:]), len(list.Part)), meta: u.meta}
	delete(s.uploads, id)
	return w.xml(struct {
		XMLName                     xml.Name `xml:"CompleteMultipartUploadResult"`
		Location, Bucket, Key, ETag string
	}{Location: "/" + key, Bucket: s.bucket, Key: key, ETag: `"` + s.objects[key].etag + `"`})
}
