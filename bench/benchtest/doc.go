// Package benchtest holds the measuring loops that package bench and the module
// bench/compare share, so that penstock, the floor and every rival are measured
// by the same code in one process, row beside row.
//
// The counts are the outer loop and the limiters the inner one: what is compared
// runs within the same seconds. The -count flag would repeat each row ten times
// before the next; repeat the whole process instead (bench/run.sh).
//
// Rows of one op (Insert, Tail, Memory, GC) are for -benchtime=1x; set their
// processors with GOMAXPROCS in the environment, because package testing makes
// the single op of -benchtime=1x before it applies -cpu.
//
// Each row is made when it is first measured and dropped, with a collection,
// before the next is made: a filter skips the work of the rows it skips.
package benchtest
