# Everything here needs only Go, make and a POSIX shell (the race detector also
# needs a C compiler). Tools are pinned in tools/go.mod and built into bin/.
#
# Every target works on each module by its own go.mod (GOWORK=off), because that
# is what a user of the module gets; go.work is for editors and for `go run`.
# A module is any folder with a go.mod, so a new one is covered without an edit
# here.

GO         ?= go
FUZZTIME   ?= 30s
FUZZREPORT ?=
STRESSTIME ?= 60s
BENCH      ?= .
HISTORIES  ?= 5000
DURATION   ?= 1m
REPORT     ?=
NOTE       ?=
COUNT      ?= 10
BENCHTIME  ?=
BENCHFLAGS ?=
PROGRAMS   ?=
TESTFLAGS  ?=
BASE       ?= main
GATEFLAGS  ?=
FILTER     ?=
ROUNDS     ?=

export GO CONCURRENT FILTER ROUNDS FUZZTIME STRESSTIME BENCH COUNT BENCHTIME BENCHFLAGS
export GOWORK := off

BIN           := $(CURDIR)/bin
GOLANGCI_LINT := $(BIN)/golangci-lint
BENCHSTAT     := $(BIN)/benchstat
GOVULNCHECK   := $(BIN)/govulncheck
EACH          := ./scripts/each-module.sh

.SHELLFLAGS   := -ec
.DEFAULT_GOAL := help

##@ Every day

.PHONY: help
help: ## Print this help
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo 'Settings: FUZZTIME=$(FUZZTIME) STRESSTIME=$(STRESSTIME) BENCH=$(BENCH) COUNT=$(COUNT)' \
	  'BENCHTIME=$(BENCHTIME) BENCHFLAGS=$(BENCHFLAGS) HISTORIES=$(HISTORIES) DURATION=$(DURATION) REPORT=$(REPORT)' \
	  'BASE=$(BASE) GATEFLAGS=$(GATEFLAGS) FILTER=$(FILTER) ROUNDS=$(ROUNDS)'

.PHONY: test
test: ## Run the tests of every module
	@$(EACH) '$(GO) test ./...'

.PHONY: race
race: ## Run the tests of every module under the race detector (TESTFLAGS=-short: fewer random steps)
	@$(EACH) '$(GO) test -race $(TESTFLAGS) ./...'

# What starts goroutines, by itself or in its tests, as far as its text shows; make race asks no such question.
CONCURRENT := (^|[{;])[[:space:]]*go [A-Za-z(]|\.Go\(|Parallel\(|httptest\.|^[^"]*\.AfterFunc\(

.PHONY: race-short
race-short: ## The part of race that a merge has to pass: packages that start goroutines, with fewer random steps
	@$(EACH) '$(CURDIR)/scripts/packages-with.sh "$$CONCURRENT" $(GO) test -race -short -vet=off'

.PHONY: examples
examples: ## Run the examples of every module
	@$(EACH) '$(GO) test -count=1 -run "^Example" ./...'

.PHONY: lint
lint: fmt-check vet $(GOLANGCI_LINT) ## Check formatting, go vet and golangci-lint in every module
	@$(EACH) '$(GOLANGCI_LINT) run --config $(CURDIR)/.golangci.yml ./...'
	@$(GOLANGCI_LINT) run --build-tags interleave ./engine ./evict ./sharded ./internal/...

.PHONY: fmt
fmt: ## Format every Go file
	@./scripts/go-files.sh | xargs gofmt -s -w

.PHONY: tidy
tidy: ## Run go mod tidy in every module
	@$(EACH) --all '$(GO) mod tidy'

.PHONY: api
api: ## Accept the present exported API of the core (internal/lint/testdata/api)
	@$(GO) test -count=1 -run '^TestAPI' ./internal/lint -update

##@ Proof

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME; FUZZREPORT=file adds a row for each to a table
	@FUZZREPORT='$(abspath $(FUZZREPORT))' $(EACH) '$(CURDIR)/scripts/fuzz.sh'

# One package at a time, so that each stress test has the processors to itself.
.PHONY: stress
stress: ## Run every stress test under the race detector for STRESSTIME
	@PENSTOCK_STRESS=$(STRESSTIME) $(EACH) \
	  '$(CURDIR)/scripts/packages-with.sh "^func Test.*Stress" $(GO) test -race -vet=off -run Stress -count=1 -p 1 -timeout 2h'

.PHONY: interleave
interleave: ## Run the core's small concurrent programs under every order of their steps
	@./scripts/interleave.sh $(PROGRAMS)

.PHONY: interleave-short
interleave-short: ## The same with two preemptions at most in the longest programs, which a merge has to pass
	@LEAST=300000 FLAGS=-test.short ./scripts/interleave.sh

.PHONY: mutate
mutate: ## Break the core on purpose, see each break caught, and write docs/mutations.md (minutes)
	@PENSTOCK_MUTATE=docs/mutations.md $(GO) test -count=1 -timeout 1h -run '^TestMutations$$' ./internal/mutate

.PHONY: paced
paced: ## Let 50 waiters share 1,000 a second for 10 s, on the real clock of an idle machine
	@PENSTOCK_PACED=10s $(GO) test -count=1 -v -run '^TestPacedWaiters$$' ./engine

.PHONY: linear
linear: ## Check that HISTORIES of calls at once come out as some order of them
	@cd fuzz/linear && PENSTOCK_HISTORIES=$(HISTORIES) $(GO) test -count=1 -v -timeout 24h -run '^TestLinearizable$$' .

.PHONY: soak
soak: ## Keep limiters under mixed load for DURATION and hold them to their laws; REPORT=stem keeps the report
	@$(GO) run ./bench/soak -duration $(DURATION) $(if $(REPORT),-report '$(REPORT)') $(if $(NOTE),-note '$(NOTE)')

# The packages that a decision passes through, and what proves them.
CORE := ./atomicstate ./sharded ./evict ./engine/... ./fair ./store ./store/hybrid ./fuzz ./internal/oracle

# 386 runs on amd64 as it is, without cgo, and shows what 32-bit words and their alignment break. One
# processor takes turns where many collide; GOGC=1 collects all the time.
.PHONY: portable
portable: ## Build and vet every module for 386, arm64 and s390x, and run the tests as other machines would
	@$(EACH) '$(CURDIR)/scripts/portable.sh'
	GOARCH=386 CGO_ENABLED=0 $(GO) test $(CORE)
	GOMAXPROCS=1 $(GO) test -count=1 $(CORE)
	GOMAXPROCS=2 $(GO) test -count=1 $(CORE)
	GOMAXPROCS=16 $(GO) test -count=1 $(CORE)
	GOGC=1 $(GO) test -count=1 $(CORE)

.PHONY: portable-short
portable-short: ## The part of portable that a merge has to pass: the core, fewer random steps
	@VETTED=386 PACKAGES='$(CORE)' ./scripts/portable.sh
	GOARCH=386 CGO_ENABLED=0 $(GO) test -vet=off -short ./atomicstate ./sharded ./evict ./engine ./fuzz
	GOMAXPROCS=1 GOGC=1 $(GO) test -vet=off -short -count=1 ./atomicstate ./evict ./engine

.PHONY: vuln
vuln: $(GOVULNCHECK) ## Look up known vulnerabilities (needs the vulnerability database)
	@$(EACH) '$(GOVULNCHECK) ./...'

##@ Measurement

.PHONY: bench
bench: ## Run the benchmarks, COUNT times, into bench/results
	@./scripts/bench.sh ./bench/...

.PHONY: bench-parts
bench-parts: ## Account for each nanosecond of a call, beside the floor and its parts (1 minute)
	@./bench/run.sh own '^Benchmark(Parts|Floor)$$' 1 200ms 1

.PHONY: bench-gate
bench-gate: ## Fail if a call is slower than at BASE, a revision, by ratios to the floor (3 minutes)
	@$(GO) run ./bench/gate -base '$(BASE)' $(GATEFLAGS)

.PHONY: bench-compare
bench-compare: ## Measure everything beside other libraries (some 90 minutes; goes on where it stopped; FILTER=group, ROUNDS=most)
	@./scripts/bench-compare.sh

.PHONY: docs-performance
docs-performance: ## Write the tables and pictures of docs/performance.md and README.md from bench/results
	@$(GO) run ./bench/report

.PHONY: benchstat
benchstat: $(BENCHSTAT) ## Compare results: make benchstat FILES="old.txt new.txt"
	@$(BENCHSTAT) $(FILES)

##@ Before a merge

.PHONY: ci
ci: ## Run all that a merge has to pass
	@./.ci/run

.PHONY: clean
clean: ## Remove the built tools
	rm -rf $(BIN)

# Parts of `lint`.

.PHONY: fmt-check
fmt-check:
	@bad=$$(./scripts/go-files.sh | xargs gofmt -s -l); \
	if [ -n "$$bad" ]; then echo "not formatted (run 'make fmt'):" >&2; echo "$$bad" >&2; exit 1; fi

.PHONY: vet
vet:
	@$(EACH) '$(GO) vet ./...'

# Tools. `go install` leaves an unchanged binary alone, hence the touch.

$(GOLANGCI_LINT): TOOL := github.com/golangci/golangci-lint/v2/cmd/golangci-lint
$(BENCHSTAT):     TOOL := golang.org/x/perf/cmd/benchstat
$(GOVULNCHECK):   TOOL := golang.org/x/vuln/cmd/govulncheck

$(GOLANGCI_LINT) $(BENCHSTAT) $(GOVULNCHECK): tools/go.mod tools/go.sum
	@echo "building $(TOOL)"
	@cd tools && GOBIN='$(BIN)' $(GO) install $(TOOL)
	@touch $@
