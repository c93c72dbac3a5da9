// Package tests holds what no single package can promise: that imports follow the layers, that whole
// pipelines agree with a plain evaluator, that every exported name is documented.
package tests
