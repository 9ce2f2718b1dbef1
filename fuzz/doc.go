// Package fuzz holds the native fuzz targets of the core, with their corpus in testdata. Each
// compares the production code with the plain models of internal/oracle.
//
//	make fuzz FUZZTIME=30s
package fuzz
