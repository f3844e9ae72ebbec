# What one does in this repository. `make` alone lists it.

SHELL         := bash
.SHELLFLAGS   := -euo pipefail -c
.DEFAULT_GOAL := help

GOVERSION := $(shell go env GOVERSION)
ifeq ($(GOVERSION),)
$(error there is no `go` on PATH; install the Go version that go.mod names)
endif

# The linters are built once for each Go version and each tools/go.sum, the message broker and
# the certificate authority of the tests once for each bench/peers/go.sum, and the OpenTelemetry receiver
# once for each test/otlp/receiver/go.sum, where their versions are pinned.
BIN   := $(CURDIR)/.cache/bin
TOOLS := .cache/bin/built-with-$(GOVERSION)
NATS  := .cache/bin/nats-server
ACME  := .cache/bin/pebble
OTLP  := .cache/bin/otlp-receiver

# Packages where goroutines meet: `make prove` runs their tests with the race detector.
RACING := /(agent(/agui|/filestore|/mcptool|/provider/(anthropic|google|openai))?|client|internal/(aguiapi|aisdkapi|app|chat/feed|clusterbus(/(natscore|pgnotify))?|console|harness(/.*)?|httpapi|hub|load|localbus|mcpapi|otlp|detach|run|spacetool|sqlite|sqlstore|tool|wakehook)|test/sqlstore)$$

# These are one goroutine with much to do: they run without it only.
ALONE := ^Test(TheWorkOfCompilingIsBounded|TheWorkOfACheckIsBounded|SchemaWalkAgreesWithLibrary)$$

# What `make test` leaves to `make prove`, because it repeats or takes minutes: faults under load,
# several servers, releases and upgrades; of the console random courses, every page in each theme and size,
# hostile content, and what many tabs, lost connections and restarts do.
LONG    := /test/(cluster|faults|release|upgrade)$$
STORIES := ^TestConsole$$/^(away|budgets|courses|frame|hostile|resume|scroll|sweep|tabs)$$

# Tests that `make test` and the race detector run with -short: with a part of their seeds, moments
# and clients. `make prove` runs them whole.
REPEATED := ^Test(AbandonedCallsEnd|AgentsConverse|AnAgentThatOnlyCallsTools|ClientsOverTLS|CrashBetweenAnyTwoChanges|EveryMentionIsExplained|ErasureGoesOnAfterACrash|EveryWriteThatIsRefused|EveryWriteWithUnknownOutcome|FollowerSimulation|Inspector|LateTurnsCostWhatEarlyOnesDo|ManyConcurrentCancellations|Simulation|StreamingBetweenNodes|StreamingOverWire|ThousandConcurrentTurns|UnknownOutcomeOfEveryChange|WaitRaces|WaitRacesOnSeveralServers)$$

# Real coding agents in every situation; `make test` runs one turn of each.
CODERS := ^TestCodingAgents[A-Z]

# The page with assistant-ui: the story of the page with useChat once more.
ASSISTANT := ^TestAssistantUI$$

# A program at OpenAI's client for Go, which takes a minute to compile.
GOCLIENT := ^TestGoClient$$

# The simulation of several servers.
SERVERS := ^TestWaitRacesOnSeveralServers$$

# `make lint` vets everything, and more strictly. On a build machine a remembered
# result proves nothing about that machine.
TESTFLAGS ?= -vet=off -timeout=20m $(if $(CI),-count=1)
FUZZTIME  ?= 20s

# The packages of all modules that go.work names: ./... alone is the server's module.
PACKAGES = $$(go list -m -f '{{.Dir}}/...')

WEB := web/node_modules/.installed
CLIENT := clients/typescript/node_modules/.installed
HOOKS := clients/react/node_modules/.installed
PYTHON := test/python/node_modules/.installed
NODE_TESTS := $(WEB) $(CLIENT) $(HOOKS) $(patsubst %/package-lock.json,%/node_modules/.installed,$(wildcard test/*/package-lock.json))

# Go and git trust the authorities that the machine trusts; Node is told to.
NODE_CA := $(firstword $(NODE_EXTRA_CA_CERTS) $(wildcard /etc/ssl/certs/ca-certificates.crt))

# What `make check` leaves to `make test`: packages whose tests need a browser, a database
# server, a network, another program, or more than a few seconds; of the last four it runs
# the scenarios and transcripts.
SLOW := /(bench(/.*)?|client|cmd/shoal|examples/.*|agent/(mcptool|filestore)|internal/(app|apptest|auth|background|clusterbus/(natscore|pgnotify)|console|docsite|doctor|filelock|harness/process|load|mcpbridge|release|shoaltest.*|sqlstore|sqlite|hub|run|httpapi|mcpapi)|test/(agui|aisdk|attack|clients|cluster|conformance|console|doors|e2e|faults|mcp-ts|models|openai|otlp|pages|python|react|release|resume|secrets|sqlstore|typescript|upgrade))$$
QUICK := ^Test(Scenarios|Transcripts|Wire|Stories|ToolsAreTheContracts|OpenAPIDocumentIsFresh|EveryInputHasABound)$$

.PHONY: help run build release vulnerabilities web setup formatted check test prove race lint format fuzz torture pictures bench generate verify

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## Build and start the server; ARGS="--addr …" goes to `shoal serve`
	bin/shoal serve $(ARGS)

build: ## Build bin/shoal
	CGO_ENABLED=0 go build -trimpath -o bin/shoal ./cmd/shoal

release: $(WEB) ## Build dist/ for every platform from the commit that is checked out; VERSION=1.2.3, RELEASEFLAGS=…
	GOWORK=off go -C build run ./release -version '$(VERSION)' $(RELEASEFLAGS)

web: $(WEB) $(CLIENT) ## Build the web console into internal/console/dist, which is committed
	npm --prefix clients/typescript run --silent types
	npm --prefix web run --silent build

setup: $(NODE_TESTS) $(NATS) $(ACME) $(OTLP) ## Install what the tests need and this machine lacks
	@scripts/setup.sh

check: formatted ## Check within a minute what most changes break: format, linters, rules of the repository, unit tests
	$(BIN)/golangci-lint run $(PACKAGES)
	go test -vet=off $$(go list $(PACKAGES) | grep -vE '$(SLOW)')
	go test -vet=off -run '$(QUICK)' ./internal/hub ./internal/run ./internal/httpapi ./internal/mcpapi

test: setup ## Run the tests
	@failed=0; \
	npm --prefix clients/typescript run --silent check || failed=1; \
	npm --prefix clients/typescript run --silent test || failed=1; \
	npm --prefix clients/react run --silent check || failed=1; \
	npm --prefix clients/react run --silent test || failed=1; \
	npm --prefix web run --silent check || failed=1; \
	npm --prefix web run --silent test || failed=1; \
	go test $(TESTFLAGS) -short -skip='$(STORIES)|$(CODERS)|$(ASSISTANT)|$(GOCLIENT)' $$(go list $(PACKAGES) | grep -vE '$(LONG)') || failed=1; \
	exit $$failed

prove: setup ## Run the long tests: race detector, faults, clusters, releases, upgrades, every page of the console
	@failed=0; mkdir -p .cache; \
	SHOAL_FAULT_TABLE=$(CURDIR)/.cache/faults.md go test $(TESTFLAGS) $$(go list $(PACKAGES) | grep -E '$(LONG)') || failed=1; \
	if [[ -f .cache/faults.md ]]; then cat .cache/faults.md; fi; \
	go test $(TESTFLAGS) -run='$(STORIES)' ./test/console || failed=1; \
	go test $(TESTFLAGS) -run='$(CODERS)' ./test/clients || failed=1; \
	go test $(TESTFLAGS) -run='$(REPEATED)' ./agent ./internal/hub ./internal/run ./test/e2e || failed=1; \
	SHOAL_CHAT_CUTS=200 go test $(TESTFLAGS) -run='^TestCuts$$' ./test/aisdk || failed=1; \
	go test $(TESTFLAGS) -run='$(ASSISTANT)' ./test/aisdk || failed=1; \
	go test $(TESTFLAGS) -run='$(GOCLIENT)' ./test/openai || failed=1; \
	scripts/race.sh $(TESTFLAGS) -short -skip='$(ALONE)' $$(go list $(PACKAGES) | grep -E '$(RACING)') || failed=1; \
	exit $$failed

race: setup ## Run only the tests with the race detector
	@scripts/race.sh $(TESTFLAGS) -short -skip='$(ALONE)' $$(go list $(PACKAGES) | grep -E '$(RACING)')

formatted: $(TOOLS)
	@wrong="$$($(BIN)/gofumpt -l .)"; \
	if [[ -n $$wrong ]]; then printf 'not formatted, run `make format`:\n%s\n' "$$wrong" >&2; exit 1; fi

lint: formatted $(PYTHON) ## Check the format and what the linters see
	node test/python/ruff.mjs check
	go vet $(PACKAGES)
	GOWORK=off go -C build vet ./release
	$(BIN)/golangci-lint run $(PACKAGES)
	GOWORK=off go -C build run ./release -check$(if $(CI), -compile)
	$(if $(CI),scripts/vulnerabilities.sh)

vulnerabilities: ## Fail if the program calls what is known to be vulnerable; says so where that cannot be checked
	@scripts/vulnerabilities.sh

format: $(TOOLS) $(PYTHON) ## Format all files in Go and Python
	$(BIN)/gofumpt -w .
	node test/python/ruff.mjs format

fuzz: ## Run every fuzz target for FUZZTIME (20s)
	@scripts/fuzz.sh $(FUZZTIME)

torture: setup ## Do every fault to servers for an hour, find every planted bug, and print the table
	@mkdir -p .cache; failed=0; \
	SHOAL_KILLS=150 SHOAL_POINTS=20 SHOAL_POWER_CUTS=60 SHOAL_FULL_DISKS=20 SHOAL_NO_ROOM=20 SHOAL_DISK_ERRORS=20 SHOAL_SLOW_DISKS=3 \
	SHOAL_DAMAGES=20 SHOAL_WAKE_UPS=300 SHOAL_SLEEPS=10 SHOAL_PLANTED=all \
	SHOAL_POSTGRES_RESTARTS=10 SHOAL_POSTGRES_KILLS=20 SHOAL_POSTGRES_CUTS=5 SHOAL_POSTGRES_CUT_SECONDS=30 SHOAL_COMMIT_REPLIES_LOST=200 \
	SHOAL_CUT_CLIENTS=5000 SHOAL_SLOW_READERS=200 SHOAL_CLOCKS=50 SHOAL_ROUNDS=20 SHOAL_RESTARTS=20 SHOAL_CODER_KILLS=120 SHOAL_CODER_CUTS=2 SHOAL_CODER_CUT_SECONDS=90 SHOAL_CODER_TURNS=20 SHOAL_FAULT_TABLE=$(CURDIR)/.cache/faults.md \
	go test -count=1 -timeout 180m ./test/faults || failed=1; \
	if [[ -f .cache/faults.md ]]; then cat .cache/faults.md; fi; \
	SHOAL_CLUSTER_FAULTS=75 go test -v -count=1 -timeout 90m ./test/cluster || failed=1; \
	SHOAL_CHAT_CUTS=2000 go test -count=1 -timeout 60m -run '^TestCuts$$' ./test/aisdk || failed=1; \
	SHOAL_KILLS=200 go test -count=1 -timeout 60m -run '^TestKilledRuns$$' ./test/e2e || failed=1; \
	go test -count=1 -timeout 180m -run='$(SERVERS)' ./internal/hub -clusterseeds=200000 || failed=1; \
	SHOAL_MENTION_WORLDS=300 go test -count=1 -timeout 60m -run='^TestEveryMentionIsExplained$$' ./internal/run || failed=1; \
	SHOAL_JOBS=1000 go test -count=1 -timeout 60m -run '^TestManyRunsOfOneEntity$$' ./test/attack || failed=1; \
	GOWORK=off go -C bench/compare test -count=1 -timeout 60m . || failed=1; \
	exit $$failed

pictures: setup build ## Take the pictures of the README from the running console
	@SHOAL_BIN=bin/shoal CHROMIUM="$${CHROMIUM:-$$(command -v chromium-headless-shell chromium chromium-browser google-chrome | head -n 1)}" node test/console/pictures.mjs docs/pictures

bench: build ## Measure bin/shoal beside the least that does the same work; BENCHFLAGS=-write puts the tables into docs
	@CGO_ENABLED=0 go build -o bin/bench ./bench
	@bin/bench $(BENCHFLAGS)

generate: $(WEB) ## Write the generated files anew
	go generate $(PACKAGES)
	python3 clients/python/generate.py
	GOWORK=off go -C build run ./release -notices
	SHOAL_GENERATE=1 go test -count=1 -run '^TestSchemaIsFresh$$' ./internal/agentconfig
	SHOAL_GENERATE=1 go test -count=1 -run '^TestTheReadmeIsCopied$$' ./docs
	SHOAL_GENERATE=1 go test -count=1 -run '^TestThe(Manual|Example)HasEverySetting$$' ./internal/cli
	$(MAKE) --no-print-directory web

verify: ## Fail if a generated file, go.mod or the libc under SQLite is not what it should be
	@scripts/verify.sh

$(TOOLS): tools/go.mod tools/go.sum
	@rm -f $(BIN)/built-with-*
	GOWORK=off CGO_ENABLED=0 GOBIN=$(BIN) go -C tools install tool
	@touch $@

$(NATS): bench/peers/go.mod bench/peers/go.sum
	GOWORK=off CGO_ENABLED=0 GOBIN=$(BIN) go -C bench/peers install github.com/nats-io/nats-server/v2
	@touch $@

$(ACME): bench/peers/go.mod bench/peers/go.sum
	GOWORK=off CGO_ENABLED=0 GOBIN=$(BIN) go -C bench/peers install github.com/letsencrypt/pebble/v2/cmd/pebble
	@touch $@

$(OTLP): test/otlp/receiver/main.go test/otlp/receiver/go.mod test/otlp/receiver/go.sum
	GOWORK=off CGO_ENABLED=0 go -C test/otlp/receiver build -o $(BIN)/otlp-receiver .
	@touch $@

%/node_modules/.installed: %/package-lock.json scripts/setup.sh
	@scripts/setup.sh
	$(if $(NODE_CA),NODE_EXTRA_CA_CERTS=$(NODE_CA)) npm --prefix $* ci --ignore-scripts --no-audit --no-fund
	@touch $@
