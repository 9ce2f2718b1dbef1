package compare

import (
	"strings"
	"sync"
	"time"

	"github.com/juju/ratelimit"

	"github.com/penstock-go/penstock/bench"
)

// JujuSyncMap is juju/ratelimit's token bucket, one for each key in a sync.Map.
type JujuSyncMap struct {
	load    bench.Load
	buckets sync.Map // string -> *ratelimit.Bucket
}

// JujuSubject is juju/ratelimit in a sync.Map.
func JujuSubject() bench.Subject {
	return bench.Subject{Name: "juju-syncmap", Clock: "exact",
		New: func(_ int, load bench.Load) bench.Limiter { return &JujuSyncMap{load: load} }}
}

func (j *JujuSyncMap) get(key string) *ratelimit.Bucket {
	found, ok := j.buckets.Load(key)
	if !ok {
		made := ratelimit.NewBucket(j.load.Per/time.Duration(j.load.Tokens), j.load.Burst)
		found, _ = j.buckets.LoadOrStore(strings.Clone(key), made)
	}
	bucket, ok := found.(*ratelimit.Bucket)
	if !ok {
		panic("compare: the map holds buckets only")
	}
	return bucket
}

// Allow takes one permit of key.
func (j *JujuSyncMap) Allow(key string) bool { return j.get(key).TakeAvailable(1) == 1 }

// Fill makes the first decision for the keys from..to-1.
func (j *JujuSyncMap) Fill(k *bench.Keys, from, to uint64) {
	for i := from; i < to; i++ {
		j.get(k.At(i)).TakeAvailable(j.load.Charge)
	}
}

// Run decides n times about random keys.
func (j *JujuSyncMap) Run(k *bench.Keys, n int) (admitted int) {
	for range n {
		if j.Allow(k.Next()) {
			admitted++
		}
	}
	return admitted
}

// Len counts the keys, in time proportional to their number.
func (j *JujuSyncMap) Len() int { return lenOf(&j.buckets) }

// Close does nothing.
func (j *JujuSyncMap) Close() {}
