package rdd

import "math"

// studentQuantile returns the t that a variable with Student's distribution exceeds in size with chance p.
//
// Source: Hill, "Algorithm 396: Student's t-Quantiles", Communications of the ACM, 1970; good to six digits.
func studentQuantile(p, freedom float64) float64 {
	switch freedom {
	case 1:
		return 1 / math.Tan(p*math.Pi/2)
	case 2:
		return math.Sqrt(2/(p*(2-p)) - 2)
	}
	n := freedom
	a := 1 / (n - 0.5)
	b := 48 / (a * a)
	c := ((20700*a/b-98)*a-16)*a + 96.36
	d := ((94.5/(b+c)-3)/b + 1) * math.Sqrt(a*math.Pi/2) * n
	y := math.Pow(d*p, 2/n)
	if y > 0.05+a {
		x := math.Sqrt2 * math.Erfinv(p-1) // the normal quantile, for large n
		y = x * x
		if n < 5 {
			c += 0.3 * (n - 4.5) * (x + 0.6)
		}
		c += (((0.05*d*x-5)*x-7)*x-2)*x + b
		y = (((((0.4*y+6.3)*y+36)*y+94.5)/c-y-3)/b + 1) * x
		y = math.Expm1(a * y * y)
	} else {
		y = ((1/(((n+6)/(n*y)-0.089*d-0.822)*(n+2)*3)+0.5/(n+4))*y-1)*(n+1)/(n+2) + 1/y
	}
	return math.Sqrt(n * y)
}
