package atomicstate

// Convert returns the word under the law to that has used what word has used under the law
// from, at now. What is used stays used, beyond the new capacity too. Between windows of the
// same length counts are carried one by one; otherwise usage moves as a number of permits,
// exact between buckets and rounded up to whole permits where a window counts.
func Convert(from Law, word uint64, to Law, now int64) uint64 {
	if s, ok := to.(*SlidingWindow); ok {
		if other, ok := from.(*SlidingWindow); ok && other.window == s.window {
			return s.adopt(other, word, now)
		}
	}
	return to.Carry(from.Usage(word, now), now)
}
