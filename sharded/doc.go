// Package sharded is the place: a concurrent table from keys to 64-bit words, in which
// lookups and updates of an existing key take no lock and the garbage collector has
// nothing to scan.
//
// # Layout
//
// Extendible hashing: a directory of small leaves, each an open-addressing table of
// [SlotsPerLeaf] slots in one object without pointers.
//
//	directory              leaf, 12 KiB
//	+-------+     +----------------------------------------+
//	|  00   |---->| lock  used  depth  replaced  floor ... |  48 bytes
//	|  01   |--+  +----------------------------------------+
//	|  10   |  |  | hash | check | limit |      word       |  24 bytes
//	|  11   |  |  | hash | check | limit |      word       |
//	+-------+  |  |                 ...                    |
//	           |  +----------------------------------------+
//	           +->  another leaf
//
//	hash   64 bits  first fingerprint; its upper half, bent so that leaves fill at
//	                different paces, picks the leaf, its lower half the first slot
//	check  32 bits  second fingerprint, with the index of [Key.WithIndex]
//	limit  32 bits  number of the limit that the word is under
//	word   64 bits  Empty, live, Moved or Superseded, by its lowest two bits
//	                (package atomicstate)
//
// A slot's identity never changes and a slot is never reused. There is no mark for a
// deleted key: forgetting happens only when a leaf is rebuilt.
//
// # Who may write what
//
//	Empty -> live, Superseded -> live   the holder of the leaf's lock
//	live -> Superseded                  the holder of the leaf's lock, by swap
//	live or Superseded -> Moved         the holder of the leaf's lock, by swap
//	live -> live                        anyone, by compare-and-swap
//	directory entries, directory        the holder of the directory's lock
//
// Lock order: sweep, ledger, leaf, directory; a merge takes two leaves in the order of their
// prefixes.
//
// # The protocol
//
//  1. Find: directory, entry, probe. A slot's word is loaded before its identity, which
//     was written before the word was published. Empty ends the probe.
//  2. Take on a live word: load the word, read the clock, compute. Denied: nothing is
//     written. Allowed: compare-and-swap; if it fails, another call made progress: load
//     the word and read the clock again; or keep the time for as long as [Table.Near] holds,
//     and refuse nobody at it. (This step is the caller's.)
//  3. Moved: go on at the word's copy ([Table.Follow]), which the rebuild made, or makes next, in the
//     leaf that its post names; if the rebuild is over, start again from the directory pointer. Where
//     neither comes soon, lock and unlock that leaf and start again ([Table.Await]).
//  4. Missing or Superseded ([Table.Insert]): lock the leaf. If it was replaced, start again.
//     Probe again, once for all that the next steps ask for; if the word is live now, start again.
//     If time has leapt, a sweep comes first, and then the call starts again.
//  5. Room first: a leaf without room is grown, and the call starts again, before anything
//     is superseded.
//  6. Convert: a live slot of the same key under another limit: swap its word to Superseded,
//     then read the clock, carry the usage, apply this take, publish.
//  7. Insert: the time is not before the leaf's floor, the latest time at which it or its
//     ancestors forgot something. Write the identity, then store the word with this take
//     already charged.
//  8. Grow (split, rebuild, merge): allocate the new leaves, post where they are, then swap each word that is not
//     Empty to Moved and judge what the swap returned: drop Superseded and what equals new
//     (raising the floor), copy the rest. A full leaf is split without a look at its words while
//     nothing of it can be forgotten: the time of that is known from the last look, only put off by
//     takes, handed on to both halves, and void once a word was lowered or superseded.
//  9. Publish: under one hold of the directory's lock write all entries of the prefix,
//     doubling if needed; mark the old leaf replaced; take down the post; unlock.
//  10. Sweep: lock each leaf in turn, so that whoever changed it at an earlier time is done; count what
//     equals new; above a threshold, step 8.
//  11. Refund, reset, giving up a promise: lock the leaf, look and swap, beside takes. Exact identity only;
//     absent or Superseded: nothing is due.
//
// # Honest limits
//
// A call that meets Moved waits for the copy of one word, nanoseconds of work. It sleeps only if the
// rebuilder has lost its processor just between the swap and the copy of that word, or if another leaf's
// post is in the place of this one's. A key that is being forgotten is a new one: inserting it locks its
// leaf, and so waits for the rebuild.
package sharded
