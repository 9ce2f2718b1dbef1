// Package lint holds the rules of this repository's architecture as tests. It
// has no code of its own to import.
//
// A rule is a function from a tree of source files to its findings, one line
// each, which say what is wrong, where, and what to do instead. It runs twice:
// over this repository, where it must find nothing, and over small trees made
// for the purpose, where it must find exactly what was planted. So no rule can
// fall silent unnoticed. The rules:
//
//	imports_test.go    who may import whom; standard packages the core avoids
//	requires_test.go   what the core module depends on
//	workspace_test.go  nested modules: listed in go.work, replaced by the checkout
//	unsafe_test.go     files that may use unsafe, each with its reason
//	atomics_test.go    typed atomics only
//	sched_test.go      goroutines of the core meet by package sched only
//	testonly_test.go   packages for tests stay out of what ships
//	api_test.go        exported names, frozen in testdata/api
//	docs_test.go       every exported name has a doc comment
//	sizes_test.go      length of files and functions
//	words_test.go      text that tells of one person's machine
//	links_test.go      links in Markdown lead somewhere
//	readme_test.go     programs in Markdown build, tasks of make exist
//
// What a general linter knows is in .golangci.yml instead.
package lint
