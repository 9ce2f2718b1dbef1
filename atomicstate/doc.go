// Package atomicstate holds the law of the limiter: pure transitions on one
// 64-bit word, one algorithm a file. It knows no map, no clock, no goroutine and
// no lock; the caller loads a word, asks for the next one, and publishes it with
// a compare-and-swap.
//
// # The word
//
//	 63                                                              2 1   0
//	+-----------------------------------------------------------------+-----+
//	|                            value                                | tag |
//	+-----------------------------------------------------------------+-----+
//	                             62 bits                                 2
//
//	tag 00, value 0   Empty: nothing was published in this slot
//	tag 01            live: value is the algorithm's state
//	tag 10, value 0   Moved: the leaf was rebuilt, look again
//	tag 11, value 0   Superseded: another limit of the same key took over
//
// The zero word is Empty, so fresh memory needs no initialisation. Every other
// bit pattern that the table can meet is a live word: 4*value + 1. The tag stands
// at the bottom because sums pass by it there. What overflows the value leaves the
// word at its top, so a sum mod 2^64 of words is one mod 2^62 of values, and a
// word read as an int64 is its value's signed reading times four.
//
// # The token bucket: fixed-point tokens plus a nanosecond delta
//
// Let a limit grant tokens at the rate L/W tokens per nanosecond, reduced by the
// greatest common divisor (10 tokens per 13 s: L = 1, W = 1.3e9). Take as unit
//
//	1 unit = 1/W token = 1/L nanosecond of refill
//
// Tokens owed and time passed are both integers in that unit, so one sum holds
// the state exactly:
//
//	value = tokens owed * W + nanoseconds since the origin * L      (mod 2^62)
//
// With now' = now*L mod 2^62 and signed62 the signed reading of 62 bits:
//
//	debt      = max(0, signed62(value - now'))           units owed at now
//	capacity  = burst * W                                units
//	allowed  <=>  debt + n*W <= capacity
//	next      = now' + debt + n*W
//	retry     = ceil((debt + n*W - capacity) / L)        nanoseconds
//	remaining = floor((capacity - debt) / W)             tokens
//	as new   <=>  debt == 0
//
// In words, with L, W and the capacity four times as large and the tag of a live word
// in between, that is, mod 2^64 and with words read as an int64:
//
//	at        = now * 4L
//	owed      = max(1, word - at)                        4*debt + 1
//	allowed  <=>  owed <= 4*capacity + 1 - n*4W          and n <= burst
//	next      = at + owed + n*4W
//
// A decision needs additions, one multiplication for now' and one for n*W; there
// is no division and no rounding on its way. From the word to the next one there are
// a subtraction, a maximum and two additions. The comparison takes the charge off the
// capacity: owed + n*4W could pass the end of an int64, the difference of two that lie
// between 0 and 2^62+1 can not. GCRA and the leaky bucket used as a
// meter are the same law: value is the theoretical arrival time in units.
//
// # Bounds
//
//	quantity   bound          why
//	capacity   <= 2^60        burst * W, checked when a limit is compiled
//	debt       <= 2^60+2^58   MaxDebt: a charge ends at or below the capacity; only
//	                          usage carried from another limit may exceed it, and it
//	                          is cut there, and reservations, which lie ahead of the
//	                          present by an eighth of the horizon (2^58 units) at most
//	debt + n*W <  2^62        for n <= burst, where n*W <= 2^60. Four times as much
//	                          would not fit in an int64, so that a decision compares
//	                          4*debt with 4*(capacity - n*W). A larger n is refused
//	                          whatever its product wraps to
//	L          <= 2^26        MaxRateUnits: keeps the horizon at 34 s or more
//	W          <= 2^60        from the capacity; for burst 0 the same bound is set
//	now        any int64      now*L wraps mod 2^64, of which 2^62 is a divisor
//
// signed62 reads a value correctly while it differs from now' by less than 2^61
// units. A word is therefore readable from 2^61 units of refill before its own
// present (more than any debt) until 2^61 units after it: the Horizon, 2^61/L ns,
// which is 73 years at L = 1 and 34 s at L = 2^26. A word of that age is as new
// long since; the table sweeps at least once every quarter of the horizon and
// drops such words (see [Law.Aged] and package sharded).
//
// # Why any order of clock readings is safe
//
// Let takes i..j of one word be published in that order with stamps t and sizes
// n, w the value after each, all in units. Since w = max(w before, t') + n*W and
// w <= t' + capacity, the tokens admitted from the i-th to the j-th satisfy
//
//	sum n*W <= w(j) - max(w(i-1), t(i)') <= capacity + t(j)' - t(i)'
//
// for whatever stamps, in whatever order. A stale or lying clock makes a take wait,
// never pass beyond the bound of its own stamps.
//
// # Reservations
//
// A reservation is a take at a time to come: [Law.Reserve] charges the word as [Law.Take] would at
// the first instant te at which the permits pass. For a bucket that leaves
//
//	value = max(value, te') + n*W,    te' >= value before + n*W - capacity
//
// so that whatever is charged later passes at te or later: the order of reservations is the order
// of their times. A window whose word lies in a window to come lets nothing pass before that one
// begins.
//
// Let each charge act at its own time: a take at once, a reservation at te. The law is kept if for
// every two charges i and j that act, ti <= tj, those that act from ti to tj come to capacity +
// tj' - ti' at most. What keeps it is, for every charge j that acts,
//
//	(I)   level(j) = tj' + sum of n*W over all charges that act at tj or later  <=  value
//
// since a charge of n permits that is added at te, with value + n*W <= te' + capacity, then finds
// that what acts from any earlier tj to te comes to value - tj' + n*W <= capacity + te' - tj' at most,
// and for a later tj, that what acts from te to tj comes to no more than value + n*W - te'. Adding it
// raises the value and each level by n*W at most, and its own level is te' + n*W or that of the next
// one after te, plus n*W: (I) stands.
//
// # Giving back
//
// To give back units of a charge that does not act is to lower the value. (I) says by how much: the
// levels of what acts up to its time te fall by n*W with it; those of what acts later do not, and
// these may not exceed the value. So what can be given back is
//
//	min(n*W,  slack(j) of each j that acts after te),     slack(j) = value - level(j)
//
// More would let a charge pass that breaks the law together with the j of the least slack.
// [Bucket.Release] computes the slack of those that are still to act, which its caller knows; those
// that acted have no say in it, because they acted before te. What cannot be given back for one that
// acts later can be when that one is given up as well.
//
// A charge that should have acted already ([Bucket.Refund]) has others after it which acted since
// and are not known. For each of them (I) holds with the charge itself counted:
//
//	te' + n*W + (n*W of all from tj on)  <=  value,    so    slack(j) >= n*W - (tj' - te')
//
// and tj is not after now: n*W - (now' - te') can be given back without harm to any of them. Giving n
// back whole when the word is the very one that the charge left would mint: with burst 2, two takes at
// 0, the first refunded, a third take when the bucket is full again writes the very word that the
// second wrote; its refund would then let three pass at one instant.
//
// The windows count whole permits in the window in which they act, so a charge is taken off that
// count while the word has it. A leaky queue gives each call a turn of its own: only the last in it can
// leave.
//
// # Limits that do not fit
//
// A limit is exact when burst*W <= 2^60 and L <= 2^26: every round number in use,
// and every whole number of tokens per second up to 67 million with bursts to a
// billion. Otherwise the nearest slower fraction within both bounds is compiled
// ([Bucket.RelativeError] < 1e-6, [Bucket.Exact] false), found on the Stern-Brocot
// tree; a limit for which even that error is larger is refused with
// [ErrTooLarge]. Nothing is rounded silently and nothing wraps.
package atomicstate
