package interleave

import "fmt"

// Dynamic partial order reduction with source sets and sleep sets, after Abdulla, Aronis, Jonsson and
// Sagonas, "Optimal dynamic partial order reduction" (POPL 2014), algorithm 1.
//
// Two steps are dependent if they are of the same goroutine, or of the same object and not both loads.
// Executions that differ only in the order of neighbouring steps that are not dependent are one and
// the same to each goroutine. The search runs one of each such class:
//
//   - It begins with one choice at each point. When a step turns out to be in a race with an earlier one
//     (dependent, with nothing between them that orders them), the other order must be run too: at the
//     point before the earlier step someone is added who begins the steps that do not depend on it.
//   - Who was run from a point and all that follows explored, sleeps in what is explored from there
//     afterwards, until a step that depends on the sleeper's: till then it would only come to an order
//     that was run.
//
// A Lock races with the Lock before it, not with the Unlock between them, since it cannot come before
// that. An Unlock is no choice, and never the earlier step of a race.

// node is a choice and the step that it led to.
type node struct {
	enabled set
	sleep   set   // nothing new comes of these
	todo    set   // chosen, or to be chosen
	chosen  int8  // who did the step
	forced  bool  // an unlock: no choice
	used    int32 // preemptions up to here

	// The step of the present execution.
	op   op
	obj  any
	past past // all that happened before it, and itself
}

// past is what happened before a step: for each goroutine, the number of steps of the execution up to
// and with its last one that did.
type past [MaxGoroutines]int32

// has reports whether the i-th step of the execution, by g, is in p.
func (p *past) has(i int, g int8) bool { return p[g] > int32(i) }

func (p *past) join(other *past) {
	for g, n := range other {
		p[g] = max(p[g], n)
	}
}

// writes reports whether a step is more than a load. A compare-and-swap counts as one even if it failed: it
// is not known before.
func (o op) writes() bool { return o != opLoad }

// dependent reports whether the order of two steps of different goroutines can matter.
func dependent(a, b op, x, y any) bool { return (a.writes() || b.writes()) && x == y }

// choose returns what the schedule says, or makes a choice and remembers it.
func (x *explorer) choose(e *execution, enabled set) (g int, ok bool) {
	if x.pruned {
		return x.prefer(e, enabled), true // to the end, so that all goroutines end
	}
	if x.depth == len(x.nodes) && !x.open(e, enabled) {
		x.pruned = true
		return x.prefer(e, enabled), true
	}
	n := &x.nodes[x.depth]
	if n.enabled != enabled || n.forced {
		x.differs(e)
		return 0, false
	}
	g = int(n.chosen)
	if x.depth < x.fresh && n.op != e.goroutines[g].op {
		x.differs(e)
		return 0, false
	}
	x.commit(e.goroutines[g])
	return g, true
}

// open adds a choice. It reports false if whatever is chosen leads to what was run.
func (x *explorer) open(e *execution, enabled set) bool {
	n := node{enabled: enabled, todo: enabled}
	var before *node
	if x.depth > 0 {
		before = &x.nodes[x.depth-1]
		n.used = before.used
	}
	if x.program.Bound != Exhaustive {
		if e.last >= 0 && enabled.has(e.last) && int(n.used) == x.program.Bound {
			n.todo = only(e.last)
		}
		n.chosen = int8(x.prefer(e, n.todo))
	} else {
		n.sleep = x.asleep(e, before)
		awake := enabled &^ n.sleep
		if awake == 0 {
			return false
		}
		n.chosen = int8(x.prefer(e, awake))
		n.todo = only(int(n.chosen))
	}
	x.nodes = append(x.nodes, n)
	return true
}

// asleep returns who still sleeps after the step before.
func (x *explorer) asleep(e *execution, before *node) (sleep set) {
	if before == nil {
		return 0
	}
	for _, g := range e.goroutines {
		if before.sleep.has(g.id) && g.id != int(before.chosen) && !dependent(g.op, before.op, g.obj, before.obj) {
			sleep |= only(g.id)
		}
	}
	return sleep
}

// prefer returns who did the last step, if it may go on, else the first who may.
func (x *explorer) prefer(e *execution, may set) int {
	if e.last >= 0 && may.has(e.last) {
		return e.last
	}
	return may.first()
}

// unlocked commits an unlock: a node of the search like any other, but with nobody else to choose.
func (x *explorer) unlocked(e *execution, g int) {
	if x.pruned {
		return
	}
	if x.depth == len(x.nodes) {
		n := node{enabled: only(g), todo: only(g), chosen: int8(g), forced: true}
		if x.depth > 0 {
			before := &x.nodes[x.depth-1]
			n.used = before.used
			if x.program.Bound == Exhaustive {
				n.sleep = x.asleep(e, before)
			}
		}
		x.nodes = append(x.nodes, n)
	}
	if !x.nodes[x.depth].forced {
		x.differs(e)
		return
	}
	x.commit(e.goroutines[g])
}

// differs ends an execution that is not what it was before the last choice.
func (x *explorer) differs(e *execution) {
	e.failure = fmt.Errorf("%w: %s is not the same in each execution: a clock, a map or a random number decides in it",
		ErrProgram, x.program.Name)
}

// commit writes down the step that g is about to do, and what it races with.
func (x *explorer) commit(g *goroutine) {
	d := x.depth
	x.depth++
	n := &x.nodes[d]
	n.op, n.obj = g.op, g.obj
	if x.program.Bound != Exhaustive {
		x.spend(d)
		return
	}
	own := x.ownPast(d)
	n.past = own
	for i := d - 1; i >= 0; i-- {
		if b := &x.nodes[i]; dependent(b.op, n.op, b.obj, n.obj) {
			n.past.join(&b.past)
			if b.op.writes() {
				break // all before it is in its past
			}
		}
	}
	n.past[n.chosen] = int32(d) + 1
	if d >= x.fresh && !n.forced {
		x.races(d, own)
	}
}

// spend counts the d-th choice as a preemption if it is one.
func (x *explorer) spend(d int) {
	if d == 0 {
		return
	}
	n, before := &x.nodes[d], &x.nodes[d-1]
	n.used = before.used
	if n.chosen != before.chosen && n.enabled.has(int(before.chosen)) {
		n.used++
	}
}

// ownPast is what the goroutine of the d-th step knew before it.
func (x *explorer) ownPast(d int) past {
	for i := d - 1; i >= 0; i-- {
		if x.nodes[i].chosen == x.nodes[d].chosen {
			return x.nodes[i].past
		}
	}
	return past{}
}

// races finds the steps with which the d-th one is in a race.
func (x *explorer) races(d int, known past) {
	n := &x.nodes[d]
	for i := d - 1; i >= 0; i-- {
		b := &x.nodes[i]
		if !dependent(b.op, n.op, b.obj, n.obj) || n.op == opLock && b.op == opUnlock {
			continue
		}
		if b.chosen != n.chosen && !known.has(i, b.chosen) {
			x.reverse(i, d)
		}
		known.join(&b.past)
		if b.op.writes() {
			return
		}
	}
}

// reverse sees to it that the d-th step is run before the i-th one too: someone who can begin the steps
// that do not depend on the i-th, up to the d-th, is to be chosen there.
func (x *explorer) reverse(i, d int) {
	first := &x.nodes[i]
	var begin, seen set
	for k := i + 1; k <= d; k++ {
		n := &x.nodes[k]
		if k < d && n.past.has(i, first.chosen) {
			continue
		}
		if g := int(n.chosen); !seen.has(g) {
			seen |= only(g)
			if x.begins(i, k) {
				begin |= only(g)
			}
		}
	}
	if begin&first.todo != 0 {
		return
	}
	g := int(x.nodes[d].chosen)
	if !begin.has(g) {
		g = begin.first()
	}
	first.todo |= only(g)
}

// begins reports whether nothing between the i-th and the k-th step came before the k-th, the i-th itself
// and what depends on it left out.
func (x *explorer) begins(i, k int) bool {
	first, n := &x.nodes[i], &x.nodes[k]
	for j := i + 1; j < k; j++ {
		b := &x.nodes[j]
		if !b.past.has(i, first.chosen) && n.past.has(j, b.chosen) {
			return false
		}
	}
	return true
}
