package parquetfiles

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// text reports whether values of a leaf are shown as text as they are.
func text(t parquet.Type) bool {
	l := t.LogicalType()
	if l == nil {
		return false
	}
	switch l.Value.(type) {
	case *format.StringType, *format.EnumType:
		return true
	}
	return false
}

// leafOf returns what makes JSON of the values of a leaf.
func leafOf(t parquet.Type) func(buf []byte, v parquet.Value) []byte {
	if text(t) {
		return func(buf []byte, v parquet.Value) []byte { return appendString(buf, v.ByteArray()) }
	}
	if l := t.LogicalType(); l != nil {
		if f := logical(l.Value, t.Kind()); f != nil {
			return f
		}
	}
	return physical(t.Kind())
}

// physical is leafOf for numbers, booleans and bytes.
func physical(k parquet.Kind) func(buf []byte, v parquet.Value) []byte {
	switch k {
	case parquet.Boolean:
		return func(buf []byte, v parquet.Value) []byte { return strconv.AppendBool(buf, v.Boolean()) }
	case parquet.Int32, parquet.Int64:
		return func(buf []byte, v parquet.Value) []byte { return strconv.AppendInt(buf, integer(v), 10) }
	case parquet.Float:
		return func(buf []byte, v parquet.Value) []byte { return appendFloat(buf, float64(v.Float()), 32) }
	case parquet.Double:
		return func(buf []byte, v parquet.Value) []byte { return appendFloat(buf, v.Double(), 64) }
	case parquet.Int96:
		return func(buf []byte, v parquet.Value) []byte { return append(buf, v.Int96().String()...) }
	}
	return func(buf []byte, v parquet.Value) []byte {
		buf = append(buf, '"')
		buf = base64.StdEncoding.AppendEncode(buf, v.ByteArray())
		return append(buf, '"')
	}
}

// logical is leafOf for what has a meaning beyond its bytes; nil where that makes no difference.
func logical(l format.LogicalTypeValue, k parquet.Kind) func(buf []byte, v parquet.Value) []byte {
	switch l := l.(type) {
	case *format.IntType:
		if !l.IsSigned {
			return func(buf []byte, v parquet.Value) []byte {
				if v.Kind() == parquet.Int32 {
					return strconv.AppendUint(buf, uint64(v.Uint32()), 10)
				}
				return strconv.AppendUint(buf, v.Uint64(), 10)
			}
		}
	case *format.JsonType:
		return func(buf []byte, v parquet.Value) []byte {
			var line bytes.Buffer
			if json.Compact(&line, v.ByteArray()) == nil {
				return append(buf, line.Bytes()...)
			}
			return appendString(buf, v.ByteArray())
		}
	case *format.UUIDType:
		return func(buf []byte, v parquet.Value) []byte {
			id := v.ByteArray()
			buf = append(buf, '"')
			for i, cut := range []int{0, 4, 6, 8, 10} {
				if i > 0 {
					buf = append(buf, '-')
				}
				buf = hex.AppendEncode(buf, id[cut:[]int{4, 6, 8, 10, 16}[i]])
			}
			return append(buf, '"')
		}
	case *format.DateType:
		return func(buf []byte, v parquet.Value) []byte {
			return time.Unix(int64(v.Int32())*86400, 0).UTC().AppendFormat(buf, `"2006-01-02"`)
		}
	case *format.TimestampType:
		unit := unitOf(l.Unit)
		return func(buf []byte, v parquet.Value) []byte {
			n := v.Int64() // a remainder of its own, since nanoseconds of all units do not fit
			return time.Unix(n/unit, n%unit*(1e9/unit)).UTC().AppendFormat(buf, `"`+time.RFC3339Nano+`"`)
		}
	case *format.TimeType:
		unit := unitOf(l.Unit)
		return func(buf []byte, v parquet.Value) []byte {
			n := integer(v)
			return time.Unix(n/unit, n%unit*(1e9/unit)).UTC().AppendFormat(buf, `"15:04:05.999999999"`)
		}
	case *format.DecimalType:
		scale := int(l.Scale)
		return func(buf []byte, v parquet.Value) []byte { return appendDecimal(buf, unscaled(v, k), scale) }
	}
	return nil
}

func integer(v parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

// unitOf returns how many of a unit are a second.
func unitOf(u format.TimeUnit) int64 {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		return 1e3
	case *format.MicroSeconds:
		return 1e6
	}
	return 1e9
}

// unscaled returns the digits of a decimal.
func unscaled(v parquet.Value, k parquet.Kind) *big.Int {
	if k == parquet.Int32 || k == parquet.Int64 {
		return big.NewInt(integer(v))
	}
	b := v.ByteArray()
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 { // two's complement
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

// maxScale bounds the zeros that are written for a decimal.
const maxScale = 1 << 10

func appendDecimal(buf []byte, n *big.Int, scale int) []byte {
	if scale < 0 || scale > maxScale {
		return append(append(n.Append(buf, 10), 'e'), strconv.Itoa(-scale)...)
	}
	if n.Sign() < 0 {
		buf = append(buf, '-')
	}
	digits := new(big.Int).Abs(n).Append(nil, 10)
	for len(digits) <= scale {
		digits = append([]byte{'0'}, digits...)
	}
	buf = append(buf, digits[:len(digits)-scale]...)
	if scale > 0 {
		buf = append(append(buf, '.'), digits[len(digits)-scale:]...)
	}
	return buf
}

func appendFloat(buf []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(strconv.AppendFloat(append(buf, '"'), f, 'g', -1, bits), '"')
	}
	return strconv.AppendFloat(buf, f, 'g', -1, bits)
}

// appendString appends text as JSON. Bytes that are no UTF-8 become the replacement character.
func appendString(buf, s []byte) []byte {
	for _, c := range s {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			var line bytes.Buffer
			e := json.NewEncoder(&line)
			e.SetEscapeHTML(false)
			_ = e.Encode(string(s)) // a buffer takes all
			return append(buf, bytes.TrimSuffix(line.Bytes(), []byte{'\n'})...)
		}
	}
	return append(append(append(buf, '"'), s...), '"')
}
