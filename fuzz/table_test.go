package fuzz

import (
	"errors"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/stretchr/testify/require"
)

func isErr(err, target error) bool { return errors.Is(err, target) }

// FuzzTable: floods of keys, forgetting, resets and the cap, against a map that counts. A limit
// of one permit that is never given back makes each key a set membership; one that is given
// back at once makes each key forgettable.
func FuzzTable(f *testing.F) {
	f.Add(uint16(0), uint8(0), []byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08"))
	f.Add(uint16(10), uint8(1), []byte("a flood of keys, and then some more of them"))
	f.Add(uint16(300), uint8(2), []byte{200, 1, 200, 2, 200, 3, 200, 4, 4, 4, 4, 4})
	f.Fuzz(func(t *testing.T, maxKeys uint16, policy uint8, data []byte) {
		clock := enginetest.NewClock()
		opts := []engine.Option{engine.WithClock(clock)}
		if maxKeys > 0 {
			opts = append(opts, engine.WithMaxKeys(int(maxKeys), engine.CapPolicy(policy%3)))
		}
		l, err := engine.New[uint32](engine.TokenBucket(engine.PerHour(1), 1), opts...)
		require.NoError(t, err)
		full := map[uint32]time.Duration{} // when each key held is full again
		s := stream(data)
		next := uint32(1 << 20)
		for len(s) > 0 {
			switch op := s.small(8); op {
			case 0: // time
				clock.Advance(time.Duration(s.small(200)) * time.Minute)
			case 1:
				l.Sweep()
			case 2: // a flood of new keys
				for range s.small(256) {
					next++
					if before := l.Stats(); l.Allow(next) && beyondCap(before) == beyondCap(l.Stats()) {
						full[next] = clock.Now() + time.Hour
					}
				}
			case 3:
				key := uint32(s.small(64))
				l.Reset(key)
				delete(full, key)
			default:
				key := uint32(s.small(64))
				at, held := full[key]
				before := l.Stats()
				allowed := l.Allow(key)
				switch {
				case held && at > clock.Now():
					require.False(t, allowed, "key %d was forgotten though it owed", key)
				case beyondCap(before) == beyondCap(l.Stats()):
					require.True(t, allowed)
					full[key] = clock.Now() + time.Hour
				}
			}
			if maxKeys > 0 {
				require.LessOrEqual(t, l.Len(), int(maxKeys))
			}
		}
		clock.Advance(time.Hour)
		l.Sweep()
		require.Zero(t, l.Len())
	})
}

// beyondCap counts the calls that the policy of the cap decided.
func beyondCap(s engine.Stats) uint64 { return s.CapShared + s.CapDenied + s.CapUncounted }
