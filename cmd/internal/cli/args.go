package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// asFlags turns the verbs that everybody tries into the flags that do it.
func asFlags(args []string) []string {
	switch {
	case len(args) > 0 && args[0] == "help":
		return slices.Concat(args[1:], []string{"--help"})
	case len(args) == 1 && args[0] == "version":
		return []string{"--version"}
	}
	return args
}

// verbIn returns the verb that args name; the whole command if they name none.
func verbIn(app *kong.Node, args []string) *kong.Node {
	first := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	for _, verb := range app.Children {
		if first >= 0 && verb.Name == args[first] {
			return verb
		}
	}
	return app
}

// prepare looks at the flags before the parser does, which takes each word with
// a dash for a flag and the last of several values for all. It joins a flag and
// a negative number after it, and says what is wrong with a flag that has one
// dash, no value, or comes again.
func prepare(verb *kong.Node, args []string) ([]string, error) {
	flags := flagsOf(verb)
	seen := map[string]bool{}
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...), nil
		}
		out = append(out, args[i])
		name, _, hasValue := strings.Cut(args[i], "=")
		if flags["-"+name] != nil {
			return nil, fmt.Errorf("there is no flag %s; did you mean -%[1]s?", name)
		}
		flag := flags[name]
		if flag == nil || flag.IsBool() {
			continue
		}
		if seen[name] && !flag.IsCumulative() {
			return nil, again(name, verb)
		}
		seen[name] = true
		if hasValue {
			continue
		}
		if i++; i == len(args) || isFlag(args[i]) {
			return nil, fmt.Errorf("%s needs a value%s", name, exampleOf(flag))
		}
		if strings.HasPrefix(args[i], "-") && args[i] != "-" {
			out[len(out)-1] = name + "=" + args[i]
			continue
		}
		out = append(out, args[i])
	}
	return out, nil
}

// flagsOf returns the flags of a verb by their names with two dashes.
func flagsOf(verb *kong.Node) map[string]*kong.Flag {
	flags := map[string]*kong.Flag{}
	for _, group := range verb.AllFlags(false) {
		for _, flag := range group {
			flags["--"+flag.Name] = flag
		}
	}
	return flags
}

func again(name string, verb *kong.Node) error {
	text := name + " is given twice; give it once"
	if flagsOf(verb)["--limit"] != nil {
		text += ", or for several limits each as a --limit"
	}
	return errors.New(text)
}

func exampleOf(flag *kong.Flag) string {
	if example := flag.Tag.Get("example"); example != "" {
		return fmt.Sprintf(", for example --%s %s", flag.Name, example)
	}
	return ""
}

// isFlag tells whether an argument is a flag, not a value: it has a dash that is
// not the sign of a number or all of it.
func isFlag(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && (arg[1] < '0' || arg[1] > '9')
}

// explain puts the parser's error in words that help.
func explain(err error) error {
	if strings.HasPrefix(err.Error(), `expected "<log>`) {
		return errors.New("no log is named; name access logs, or - for standard input, " +
			"for example penstock replay --rate 10/1s access.log")
	}
	if strings.HasPrefix(err.Error(), `expected "<url>`) {
		return errors.New("no store is named; name one as a URL, for example penstock bench-store redis://127.0.0.1:6379")
	}
	return err
}
