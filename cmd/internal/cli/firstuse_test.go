package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What somebody meets who uses the command for the first time.

func TestReplayOfVirtualHostLogs(t *testing.T) {
	const host = "www.example.com:443 "
	out, stderr := replayJSON(t, host+line+host+line+host+strings.Replace(line, "192.0.2.1", "192.0.2.2", 1), exitOK, "-")
	assert.Empty(t, stderr)
	assert.InDelta(t, 2, out["keys"], 0)
	assert.Equal(t, []any{map[string]any{"key": "192.0.2.1", "requests": 2.0, "denied": 1.0}}, out["top"])
}

func TestReplaySkipsAddressesThatAreNone(t *testing.T) {
	text := line + strings.Replace(line, "192.0.2.1", "999.1.1.1", 1) + strings.Replace(line, "192.0.2.1", "010.0.0.1", 1)
	_, stdout, _ := call(text, "replay", "--rate", "1/1s", "-")
	for _, where := range []string{"stdin:2: ", "stdin:3: "} {
		assert.Contains(t, stdout, where+"the address field is all digits, but no IPv4 address")
	}
}

func TestReplaySaysWhichFlagHelpsLateLines(t *testing.T) {
	at := func(second string) string { return strings.Replace(line, "55:36", "55:"+second, 1) }
	text := at("10") + at("20") + at("30") + at("40") + at("11")
	const reached = "   counted at the time reached; "
	for args, want := range map[string]string{
		"--reorder-lines 2":                      "1" + reached + "a larger --reorder-lines puts them in place\n",
		"--reorder-window 5s":                    "1" + reached + "a longer --reorder-window puts them in place\n",
		"--reorder-lines 9":                      "0\n",
		"--reorder-window 25s --reorder-lines 2": "1" + reached + "a longer --reorder-window puts them in place\n",
	} {
		_, stdout, _ := call(text, append(append([]string{"replay", "--rate", "1/1s"}, strings.Fields(args)...), "-")...)
		assert.Regexp(t, `(?m)^late +\d.*$`, stdout)
		assert.Contains(t, stdout, want, args)
	}
	_, stdout, _ := call(text+at("29")+at("12"), "replay", "--rate", "1/1s", "--reorder-window", "15s", "--reorder-lines", "1", "-")
	assert.Contains(t, stdout, "3"+reached+"a longer --reorder-window puts 2 of them in place, a larger --reorder-lines 1\n")
}

func TestReplayFormatIsReal(t *testing.T) {
	combined := strings.TrimSuffix(line, "\n") + ` "-" "curl"` + "\n"
	for format, want := range map[string]string{
		"common":         "stdin:2: not in the common format: host ident user [time]",
		"combined":       "stdin:1: not in the combined format: host ident user [time]",
		"vhost_common":   "stdin:1: not in the vhost_common format: virtual-host host ident user [time]",
		"vhost_combined": "stdin:1: not in the vhost_combined format: virtual-host host ident user [time]",
	} {
		_, stdout, stderr := call(line+combined, "replay", "--rate", "1/1s", "--format", format, "-")
		assert.Contains(t, stdout, "  "+want, stderr)
	}
	_, stderr := replayJSON(t, line, exitFailed, "--format", "combined", "-")
	assert.Contains(t, stderr, "does --format say so?")
}

func TestReplaySaysWhatTheLogLooksLike(t *testing.T) {
	for text, want := range map[string]string{
		`{"remote_ip": "192.0.2.1", "time": "2026-05-01T12:00:00Z"}`: "the line looks like JSON; what is read are the common and combined formats",
		"1714550400.1\t192.0.2.1\tGET\t/":                            "the line looks like tab-separated values; what is read are the common and combined formats",
	} {
		_, stderr := replayJSON(t, text+"\n", exitFailed, "-")
		assert.Contains(t, stderr, want)
	}
}

func TestFlagsThatAreMistaken(t *testing.T) {
	log := tempFile(t, "x.log", []byte(line))
	for args, want := range map[string]string{
		"replay --rate 1/1s --burst -1":              "--burst: -1 is less than 1, so no request could ever pass",
		"replay --rate -1/1s":                        `--rate: "-1/1s": the number of requests "-1" must be 1 or more`,
		"replay --rate 1/1s --top -3":                "--top: -3 is less than 0",
		"check --random -5":                          "--random: -5 is less than 0, for example 100000",
		"replay -rate 1/1s":                          "there is no flag -rate; did you mean --rate?; see penstock replay --help",
		"replay -rate=1/1s":                          "there is no flag -rate; did you mean --rate?",
		"replay --rate 1/1s -json":                   "there is no flag -json; did you mean --json?",
		"-version":                                   "there is no flag -version; did you mean --version?",
		"replay --rate --burst 5":                    "--rate needs a value, for example --rate 10/1s; see penstock replay --help",
		"check --random":                             "--random needs a value, for example --random 100000",
		"replay --rate 1/1s --rate 2/1s":             "--rate is given twice; give it once, or for several limits each as a --limit",
		"replay --rate 1/1s --top=1 --top 2":         "--top is given twice; give it once",
		"check --seed 1 --seed 2 --random 5":         "--seed is given twice; give it once; see penstock check --help",
		"replay --rate 1/1s --ipv6-prefix x":         `--ipv6-prefix: "x" is not a whole number that fits in 64 bits, for example 64`,
		"replay --rate 1/1s --reorder-lines x":       `--reorder-lines: "x" is not a whole number that fits in 64 bits, for example 1000000`,
		"check --random 5 --seed x":                  `--seed: "x" is not a whole number from 0 to 18446744073709551615, for example 7`,
		"check --seed 5":                             "--seed is the seed of the random calls of --random; add --random N",
		"replay --rate 1/1s --key path,path":         `the field "path" stands there twice; name each field once, for example client_ip,path`,
		"replay --rate 1/1s --key=":                  "--key: the key is empty; name what shares a limit (fields: client_ip,",
		"help frobnicate":                            "unexpected argument frobnicate",
		"version now":                                "unexpected argument version",
		"replay --limit 'name=a --rate 1/1s --burst": "--burst needs a value",
	} {
		fields := strings.Fields(args)
		if fields[0] == "replay" || fields[0] == "check" && !strings.Contains(args, "--random") {
			fields = append([]string{fields[0], log}, fields[1:]...)
		}
		code, _, stderr := call("", fields...)
		assert.Equal(t, exitUsage, code, args)
		assert.Contains(t, stderr, want, args)
		assert.NotContains(t, stderr, "perhaps try", args)
	}
	code, _, stderr := call(line, "replay", "--json", "--rate", "1/1s", "--", "-")
	assert.Equal(t, exitOK, code, stderr)
	code, _, stderr = call(line, "replay", "--rate", "1/1s", "--", "-rate")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "cannot read -rate: no such file")
}

func TestReplayNotesALogNamedTwice(t *testing.T) {
	log := tempFile(t, "x.log", []byte(line))
	other := filepath.Join(filepath.Dir(log), "y.log")
	require.NoError(t, os.Symlink(log, other))
	out, stderr := replayJSON(t, line, exitOK, log, tempFile(t, "x.log", []byte(line)), "-", log)
	assert.InDelta(t, 4, out["requests"], 0)
	assert.Equal(t, "penstock: note: the log "+log+" is named twice, so its lines count twice\n", stderr)
	_, stderr = replayJSON(t, "", exitOK, log, other)
	assert.Equal(t, "penstock: note: the log "+other+" (it is "+log+") is named twice, so its lines count twice\n", stderr)
}

func TestReplayJSONSaysWhatWasReplayed(t *testing.T) {
	out, _ := replayJSON(t, line+"junk\n", exitOK, "--burst", "3", "--ipv6-prefix", "56", "--key", "path", "-")
	assert.Equal(t, "1/1s", out["rate"])
	assert.InDelta(t, 3, out["burst"], 0)
	assert.InDelta(t, 56, out["ipv6_prefix"], 0)
	assert.Equal(t, "path", out["key"])
	assert.Equal(t, false, out["incomplete"])
	assert.Equal(t, []any{map[string]any{"file": "stdin", "line": 2.0, "reason": "no [time] field"}}, out["skipped_reasons"])

	cut := zipped(t, strings.Repeat(line, 1000))
	out, stderr := replayJSON(t, "", exitFailed, "--algorithm", "sliding_log", tempFile(t, "x.gz", cut[:len(cut)-9]))
	assert.Equal(t, true, out["incomplete"])
	assert.Nil(t, out["burst"])
	assert.Equal(t, []any{}, out["skipped_reasons"])
	assert.Contains(t, stderr, "copy the file again, or wait until it is written in full; it has been read up to line 1000")
}

func TestHelpAndVersionAsVerbs(t *testing.T) {
	for args, want := range map[string]string{
		"help":        "Usage: penstock <command>",
		"help replay": "Usage: penstock replay",
		"version":     "penstock ",
		"--version":   "penstock ",
	} {
		code, stdout, stderr := call("", strings.Fields(args)...)
		assert.Equal(t, exitOK, code, args)
		assert.Empty(t, stderr)
		assert.Contains(t, stdout, want, args)
	}
}
