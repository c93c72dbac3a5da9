package s3test

import (
	"encoding/xml"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

type listed struct {
	Key, LastModified, ETag, StorageClass string
	Size                                  int
}

// list answers with a page of objects.
func (s *Server) list(w *response, q url.Values) *fault {
	limit := s.page
	if n, err := strconv.Atoi(q.Get("max-keys")); err == nil && n > 0 {
		limit = min(limit, n)
	}
	after := max(q.Get("start-after"), q.Get("continuation-token"))
	page := struct {
		XMLName                                         xml.Name `xml:"ListBucketResult"`
		Name, Prefix, StartAfter, NextContinuationToken string
		EncodingType                                    string `xml:",omitempty"`
		KeyCount, MaxKeys                               int
		IsTruncated                                     bool
		Contents                                        []listed
	}{Name: s.bucket, Prefix: q.Get("prefix"), MaxKeys: limit, EncodingType: q.Get("encoding-type")}
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if key <= after || !strings.HasPrefix(key, q.Get("prefix")) {
			continue
		}
		if len(page.Contents) == limit {
			page.IsTruncated = true
			break
		}
		page.NextContinuationToken = key
		name := key
		if page.EncodingType == "url" {
			name = url.QueryEscape(key)
		}
		o := s.objects[key]
		page.Contents = append(page.Contents, listed{
			Key: name, LastModified: "1970-01-01T00:00:00.000Z", ETag: `"` + o.etag + `"`, StorageClass: "STANDARD", Size: len(o.data),
		})
	}
	page.KeyCount = len(page.Contents)
	if !page.IsTruncated {
		page.NextContinuationToken = ""
	}
	return w.xml(page)
}

// removeMany removes the objects that a body lists.
func (s *Server) removeMany(w *response, body []byte) *fault {
	var list struct {
		Object []struct{ Key string }
	}
	if err := xml.Unmarshal(body, &list); err != nil || len(list.Object) > 1000 {
		return &fault{http.StatusBadRequest, "MalformedXML", "not a list of at most 1000 objects"}
	}
	type deleted struct{ Key string }
	result := struct {
		XMLName xml.Name `xml:"DeleteResult"`
		Deleted []deleted
	}{}
	for _, o := range list.Object {
		delete(s.objects, o.Key)
		result.Deleted = append(result.Deleted, deleted{o.Key})
	}
	return w.xml(result)
}
