# One short name a task, the same here and in CI. `make` alone lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Steps of `make test` in the order that finds mistakes cheapest first.
TEST_STEPS := lint platforms rust capi ruby models gates node node-bench docs-programs clients commonjs windows-short arm64-short browser load interop conformance house

# Tells in a long log which step one is in, and how long the one before took.
step = @echo; echo "== $(1) · $$(date +%T)"

.PHONY: help setup setup-tests build demo test $(TEST_STEPS) gates-update soak fuzz threads install-capi aarch64 firefox webkit windows bench
.PHONY: bench-rivals bench-cold bench-cold-gets bench-latency bench-scale bench-node bench-node-writes bench-node-loop bench-open
.PHONY: bench-tuning bench-browser bench-browsers bench-bytewise bench-hooks bench-net soak-net cluster cluster-faults suite-tidb test-mysql bytewise-differential
.PHONY: prebuilds test-archives test-platforms node-leaks modules options man docs-inspecting fmt docs-crates clean bench-slatedb back-ends bench-back-ends
.PHONY: check-packages upgrading audit check-workflow release

help: ## list what can be made
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

# `make test` has done all three by the time it comes to its steps.
ifdef IS_BUILT
setup setup-tests build: ;
else
setup: ## check what building needs, install npm packages
	@scripts/setup

setup-tests: ## the same and what the tests need
	@scripts/setup tests

build: setup ## build the engine and the Node package
	$(call step,build)
	npm run build
endif

demo: build ## the main job on real input
	node demo/demo.mjs

# make prebuilds WHAT="library program" PLATFORMS="linux-arm64-musl win32-x64": these alone. CHECK=1: each twice, which must give the
# same bytes. Only what the command line says is meant: the step platforms has a variable of this name.
PREBUILDS = $(WHAT) $(if $(filter command,$(origin PLATFORMS)),$(PLATFORMS))
prebuilds: setup ## build addon, C library and program for every platform, and check what each file needs and how large it is
	$(call step,prebuilds)
	@scripts/setup prebuilds
	node scripts/prebuilds.mjs $(if $(CHECK),--check) $(PREBUILDS)

test-archives: ## programs in C with the archives of the C library by pkg-config and CMake, and the programs, as far as they run here
	$(call step,test-archives)
	node --test --test-reporter=spec tests/archives/

PLATFORMS_READY := interop/platforms/node_modules/.package-lock.json
# --force: some of the programs are for other processors than this one.
$(PLATFORMS_READY): interop/platforms/package-lock.json
	cd interop/platforms && npm ci --force --ignore-scripts
	@touch $@

# ARGUMENTS="--runtime Bun --job suite" make test-platforms: this alone; the others keep their counts.
test-platforms: $(PLATFORMS_READY) ## the builds in other versions of Node, on arm64 and musl, in Bun and in Deno: results/platforms.json
	$(call step,test-platforms)
	@scripts/setup platforms
	@interop/platforms/musl/prepare.sh
	node interop/platforms/main.mjs --results results/platforms.json $(ARGUMENTS)

# The steps run in this order whatever -j says: they compete for the same cores and for cargo's lock.
# What a failed step printed may be long, so its failures are told once more at the end.
test: setup-tests build ## every test
	@mkdir -p target/test-logs
	@for step in $(TEST_STEPS); do \
	  log="target/test-logs/$$step"; \
	  $(MAKE) --no-print-directory IS_BUILT=1 "$$step" 2>&1 | tee "$$log" || \
	    { echo; echo "== failed: make $$step"; node scripts/failures.mjs "$$log"; exit 1; }; \
	done
	@echo; echo "== all steps passed · $$(date +%T)"

lint: setup-tests ## rustfmt, clippy, JavaScript linter
	$(call step,lint)
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	npm run lint

PLATFORMS := wasm32-unknown-unknown x86_64-pc-windows-gnu
platforms: setup ## the engine compiles for platforms where it has no files of its own
	$(call step,platforms)
	@if command -v rustup >/dev/null; then \
	  rustup target add $(PLATFORMS); \
	  for platform in $(PLATFORMS); do \
	    cargo check --quiet --package terrace-engine --package terrace-memory --no-default-features --target "$$platform"; \
	  done; \
	else echo 'skipped: rustup, which gets their standard libraries, is missing'; fi

# On Windows without those whose programs fork, or compare Unix's system calls.
RUST_EXCEPT := terrace-capi $(if $(filter Windows_NT,$(OS)),terrace-testkit terrace-bench)
rust: setup-tests ## tests of the crates, doc examples included
	$(call step,rust)
	cargo test --workspace $(addprefix --exclude ,$(RUST_EXCEPT))

capi: setup-tests ## the C library: programs in C, beside LevelDB, under sanitizers and valgrind
	$(call step,capi)
	cargo test --package terrace-capi

# The second time over LevelDB, whose interface is the same. LEVELDB_LIB names it.
LEVELDB_LIB ?= $(firstword $(wildcard /usr/lib/*/libleveldb.so.1d))
ruby: setup-tests ## the gem: its tests over the C library, and over LevelDB
	$(call step,ruby)
	cargo build --quiet --package terrace-capi
	TERRACE_LIB="$(CURDIR)/target/debug/libterrace.so" ruby -w ruby/test/all.rb
	TERRACE_LIB="$(LEVELDB_LIB)" ruby -w ruby/test/all.rb

# make install-capi PREFIX=/usr DESTDIR=/tmp/package: for a package. docs/c-library.md says what goes where.
install-capi: ## build and install the C library, libterrace
	cargo build --release --package terrace-capi
	PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" LEVELDB_SONAME="$(LEVELDB_SONAME)" scripts/install-capi

models: setup ## models of what threads share, in every order of what they do
	$(call step,models)
	scripts/threads loom

GATES := target/release/terrace-gates

# Cases run under valgrind, as many at once as there are cores; where it is missing, only written bytes are compared.
gates: setup-tests ## instructions, system calls, allocations, written bytes of fixed work against committed counts
	$(call step,gates)
	cargo build --release --quiet --package terrace-bench --no-default-features --bin terrace-gates
	$(GATES)

gates-update: setup-tests ## commit to the counts of now: writes crates/bench/gates.json
	cargo build --release --quiet --package terrace-bench --no-default-features --bin terrace-gates
	$(GATES) --update

# The packages, those first that take longest. Most of their tests wait for servers, disks and clocks, so two run at a time. What
# each prints comes at its end, and all are run even if one fails.
PACKAGE_TESTS := $(addprefix test-of-,toolbox terrace net back-ends/mysql back-ends/slatedb cli core workshop-node workshop workshop-runner back-ends/lmdb copy bytewise)
.PHONY: $(PACKAGE_TESTS)
$(PACKAGE_TESTS): build
	$(call step,packages/$(@:test-of-%=%))
	npm test --workspace packages/$(@:test-of-%=%)

node: build ## TypeScript compiler and tests of the packages
	$(call step,node)
	@$(MAKE) --no-print-directory --jobs=2 --keep-going --output-sync=target IS_BUILT=1 $(PACKAGE_TESTS)

# Packages that only one thing needs are installed below it. npm writes this file last, and none of their scripts runs.
%/node_modules/.package-lock.json: %/package-lock.json
	cd $* && npm ci --ignore-scripts
	@touch $@

NODE_BENCH_READY := bench/node/node_modules/.package-lock.json

# SQLite comes as source for Node 20. Where it does not compile, it is left out of the benchmark, which says so.
NODE_SQLITE := bench/node/node_modules/better-sqlite3/build/Release/better_sqlite3.node
$(NODE_SQLITE): $(NODE_BENCH_READY)
	cd bench/node && npm rebuild better-sqlite3 || true
	@[[ ! -e $@ ]] || touch $@

node-bench: build $(NODE_BENCH_READY) ## tests of the benchmark in Node
	$(call step,node-bench)
	cd bench/node && npm test
	node --test bench/back-ends/test/

CLIENTS_READY := interop/clients/node_modules/.package-lock.json

clients: build $(CLIENTS_READY) ## programs from npm on our Node package, beside classic-level
	$(call step,clients)
	cd interop/clients && npm test

COMMONJS_READY := interop/commonjs/node_modules/.package-lock.json

commonjs: build $(COMMONJS_READY) ## our packages, installed, in Jest, TypeScript, esbuild, webpack, Vite and as Electron has them
	$(call step,commonjs)
	cd interop/commonjs && npm test

PACKAGES_READY := interop/packages/node_modules/.package-lock.json

check-packages: build debug-program $(PACKAGES_READY) ## what npm would publish: the files of each package, publint, are the types wrong
	$(call step,check-packages)
	node --test --test-reporter=spec tests/packages/
	cd interop/packages && npm test

UPGRADING_READY := interop/upgrading/node_modules/.package-lock.json

upgrading: build $(UPGRADING_READY) ## the recipes of UPGRADING.md, each on a database of the real old package
	$(call step,upgrading)
	cd interop/upgrading && npm test

audit: setup ## what is known against npm packages and crates: advisories, licences, sources
	$(call step,audit)
	@scripts/setup release
	scripts/audit

# Go gets the checker of workflows, in the version that is named here.
ACTIONLINT := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
check-workflow: ## the workflow of hosted CI: its syntax, and that each step is one of this file
	$(call step,check-workflow)
	go run $(ACTIONLINT)

release: ## everything that a release consists of, but the upload: RELEASING.md
	$(call step,release)
	scripts/release

BROWSER_READY := interop/browser/node_modules/.package-lock.json

# TERRACE_SUITE=1 make browser: with abstract-level's suite in an isolated page as well.
browser: build $(BROWSER_READY) ## the client of terrace-net in Chromium: abstract-level's suite, lost connections, live pages, bundlers
	$(call step,browser)
	@if [[ -x "$${CHROMIUM:-/usr/bin/chromium}" ]]; then cd interop/browser && npm test; \
	else echo 'skipped: Chromium is missing (apt-get install chromium; CHROMIUM names one elsewhere)'; fi

# TERRACE_SUITE=1 make firefox: with abstract-level's suite in each place, which takes many minutes.
firefox: build $(BROWSER_READY) ## Level in Firefox: pages that share a database, workers, both storages
	$(call step,firefox)
	@scripts/setup firefox
	cd interop/browser && npm run test:firefox

# TERRACE_SUITE=1 make webkit: with abstract-level's suite.
webkit: build $(BROWSER_READY) ## Level in WebKitGTK, which has no files for it: pages and workers fall to IndexedDB
	$(call step,webkit)
	@scripts/setup webkit
	cd interop/browser && npm run test:webkit

# The Node of Windows, which runs in wine. Its package says that it is for Windows, which npm would refuse here.
WINDOWS := x86_64-pc-windows-gnu
WINDOWS_READY := interop/windows/node_modules/.package-lock.json
$(WINDOWS_READY): interop/windows/package-lock.json
	cd interop/windows && npm ci --force --ignore-scripts
	@touch $@

windows windows-short: export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER = x86_64-w64-mingw32-gcc
windows windows-short: export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER = $(CURDIR)/interop/windows/wine.sh
define prepare_windows
	@scripts/setup windows
	@$(MAKE) --no-print-directory $(WINDOWS_READY)
	@interop/windows/prepare.sh
endef

# WINDOWS_JOBS="--only kills" make windows: one of them, see interop/windows/jobs.js. The addon is the one that is published.
windows: build ## tests in wine: the environment of Windows, the engine, the program, the Node package, abstract-level's suite, kills, classic-level beside it
	$(call step,windows)
	$(prepare_windows)
	@scripts/setup prebuilds
	node scripts/prebuilds.mjs addon program win32-x64
	cargo test --target $(WINDOWS) --package terrace-env --package terrace-engine
	cargo test --target $(WINDOWS) --package terrace-cli -- --test-threads 1
	node interop/windows/run.js $(WINDOWS_JOBS) --results results/windows.json

windows-short: build ## a part of `windows`, where wine is there or can be installed
	$(call step,windows)
	@if scripts/setup windows; then $(MAKE) --no-print-directory IS_BUILT=1 windows-part; \
	else echo 'skipped: Windows: see what is missing above'; fi

# Linked by mingw-w64, which needs less than what links the published addon.
.PHONY: windows-part
windows-part:
	$(prepare_windows)
	cargo build --quiet --release --package terrace-node --target $(WINDOWS)
	@cp target/$(WINDOWS)/release/terrace_node.dll packages/terrace/terrace.win32-x64.node
	cargo test --quiet --target $(WINDOWS) --package terrace-env
	node interop/windows/run.js --short

# The addon is the one that is published: what links it is there once `make prebuilds` was run, or is installed.
arm64-short: build ## a part of `test-platforms` for arm64, where an emulator is there or can be installed
	$(call step,arm64-short)
	@if scripts/setup platforms && scripts/setup prebuilds; then $(MAKE) --no-print-directory IS_BUILT=1 arm64-part; \
	else echo 'skipped: arm64: see what is missing above'; fi

.PHONY: arm64-part
arm64-part: $(PLATFORMS_READY)
	node scripts/prebuilds.mjs addon linux-arm64-gnu
	node interop/platforms/main.mjs --short --runtime 'Node 22 on arm64'

# Wants `rustup target add aarch64-unknown-linux-gnu` and Debian's gcc-aarch64-linux-gnu and qemu-user-static.
AARCH64 := aarch64-unknown-linux-gnu
aarch64: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER = aarch64-linux-gnu-gcc
aarch64: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER = qemu-aarch64-static -L /usr/aarch64-linux-gnu
aarch64: ## tests of what is written for AArch64 alone, in an emulator
	$(call step,aarch64)
	cargo test --target $(AARCH64) --package terrace-format --package terrace-env --lib
	cargo test --target $(AARCH64) --package terrace-env --test all mapped_log::

LOAD := cargo run --release --quiet --package terrace-testkit --bin terrace-load --

# Entries of 116 bytes: 9 million are 1 GB. Space after deletes must come back within a minute.
load: setup ## ten million entries in order, five at random, and 1 GB of which 90 % are deleted
	$(call step,load)
	$(LOAD) sorted 10000000
	$(LOAD) random 5000000
	$(LOAD) shrink 9000000

# BENCH="--num 10000000 --benchmarks fillrandom" make bench: so much, and these workloads. Without: a short form.
BENCH ?= --num 200000
bench: setup ## db_bench's workloads on Terrace, with lines of JSON and plots in results/
	$(call step,bench)
	cargo build --release --quiet --package terrace-cli
	@rm -f results/terrace.jsonl
	target/release/terrace bench $(BENCH) --db target/bench-db --results results/terrace.jsonl
	target/release/terrace bench --plot results/terrace.jsonl

# A few rows of the tables of rivals and of Node, and a picture of them.
README_TABLE := node scripts/readme-table.mjs results/summary.svg | node scripts/embed.mjs /dev/stdin README.md results

# RIVALS="--engines leveldb,rocksdb --rounds 5" make bench-rivals chooses; RIVALS="--num 100000" is the short form.
# LEVELDB_HEAD=DIRECTORY, a checkout of LevelDB, adds that to the system's LevelDB.
LEVELDB_HEAD ?=
bench-rivals: setup $(NODE_BENCH_READY) ## the same on LevelDB, RocksDB, LMDB, fjall, redb and Terrace in turns: tables, plots, README
	$(call step,bench-rivals)
	@scripts/setup bench
	cd crates/bench-rivals && cargo build --release
	crates/bench-rivals/target/release/terrace-rivals --db target/rivals-db $(RIVALS) \
	  $(if $(LEVELDB_HEAD),--leveldb-head "$$(scripts/leveldb-head $(LEVELDB_HEAD))")
	$(README_TABLE)

# Databases of about 4 and 20 times 256 MiB, of values that do not compress; needs root, 25 GB of disk for a while, and an hour.
# COLD="--cold 200 --cold-nums 2500000 --rounds 1 --reads 400" make bench-cold: the short form.
COLD ?= --cold 256 --cold-nums 9000000,46000000 --rounds 2 --reads 4000
COLD_ENGINES ?= leveldb,rocksdb,lmdb
bench-cold: setup ## databases larger than memory, beside LevelDB, RocksDB and LMDB: times, reads of the device, bytes
	$(call step,bench-cold)
	@scripts/setup bench
	cd crates/bench-rivals && cargo build --release
	crates/bench-rivals/target/release/terrace-rivals --engines $(COLD_ENGINES) --compression_ratio 1 \
	  --db target/cold-db --results results/cold.jsonl $(COLD)

# Only what reads by key, more often in turns: a device that others use is slow by minutes.
COLD_GETS := readrandom@4000,readrandom,readrandom:32@125,readmissing@4000,readmissing,seekrandom,rangerandom@100
bench-cold-gets: setup ## gets, seeks and ranges of databases larger than memory, in three rounds: times, reads of the device
	$(call step,bench-cold-gets)
	@scripts/setup bench
	cd crates/bench-rivals && cargo build --release
	crates/bench-rivals/target/release/terrace-rivals --engines $(COLD_ENGINES) --compression_ratio 1 \
	  --db target/cold-db --results results/cold-gets.jsonl --cold 256 --cold-nums 46000000,9000000 \
	  --rounds 3 --reads 1000 --benchmarks $(COLD_GETS)

# LATENCY="--num 100000000" make bench-latency: so much.
LATENCY ?= --num 20000000
bench-latency: setup ## latencies over time while entries are written without pause, with a plot
	$(call step,bench-latency)
	cargo build --release --quiet --package terrace-cli
	@rm -f results/latency.jsonl
	for settings in "" --leveldb; do \
	  target/release/terrace bench $(LATENCY) $$settings --benchmarks fillrandom --histogram \
	    --db target/bench-db --results results/latency.jsonl; \
	done
	target/release/terrace bench --plot results/latency.jsonl

# So many entries: 100 million are 11 GB, may take 33 GB of disk for a while, and about half an hour. The database is
# looked for room before the run begins, and removed behind it.
SCALE ?= 100000000
SCALE_STEPS := fillrandom,readrandom,readseq,compact,readrandom,readmissing,readhot,readseq,seekrandom
bench-scale: setup ## what operations cost with a million entries and with SCALE, bytes written, memory
	$(call step,bench-scale)
	cargo build --release --quiet --package terrace-cli
	@rm -f results/scale.jsonl
	for num in 1000000 $(SCALE); do \
	  target/release/terrace bench --num $$num --reads 1000000 --benchmarks $(SCALE_STEPS) \
	    --db target/bench-db --results results/scale.jsonl; \
	done
	target/release/terrace bench --scale results/scale.jsonl | tee results/scale.md

NODE_BENCH := node bench/node/src/main.js
NODE_TARGETS ?= terrace classic-level MemoryLevel memory-level lmdb better-sqlite3

# NODE_TARGETS="terrace classic-level" NODE_TABLE="-n 30000 --rounds 1" make bench-node: the short form.
NODE_TABLE ?= --rounds 3
bench-node: build $(NODE_SQLITE) ## what operations cost in Node, beside classic-level and others: table, plot, README
	$(call step,bench-node)
	@rm -f results/node.jsonl
	$(NODE_BENCH) run table $(NODE_TARGETS) $(NODE_TABLE) --skip-missing --dir target/node-db --results results/node.jsonl
	$(NODE_BENCH) report results/node.jsonl > results/node.md
	$(NODE_BENCH) plot results/node.jsonl
	$(README_TABLE)

# MEMORY=1 make bench-memory: so many rounds.
MEMORY ?= 3
bench-memory: build ## the memory of a million entries of MemoryLevel beside memory-level's: table
	$(call step,bench-memory)
	node packages/terrace/bench/memory.js $(MEMORY) > results/memory.md

# NODE_WRITES="-n 1000000" make bench-node-writes: so many entries, else ten million in order and three at random.
NODE_WRITES ?=
NODE_WRITE_TARGETS ?= terrace terrace:server terrace:leveldb classic-level lmdb
bench-node-writes: build $(NODE_BENCH_READY) ## the time of each batch while many are written in Node, with plots
	$(call step,bench-node-writes)
	@rm -f results/node-writes.jsonl
	for order in sorted random; do \
	  $(NODE_BENCH) run sorted-write $(NODE_WRITE_TARGETS) $(NODE_WRITES) --key-order $$order --skip-missing \
	    --dir target/node-db --results results/node-writes.jsonl; \
	done
	$(NODE_BENCH) plot results/node-writes.jsonl

# NODE_LOOP="--seconds 2" make bench-node-loop: so long for each of seven. Whoever writes ten thousand entries at once makes
# them one batch after the other.
NODE_LOOP ?= --seconds 30
NODE_LOOP_TARGETS ?= terrace terrace:leveldb classic-level
NODE_LOOP_BATCHES := --batch-size 10000 --concurrency 1
bench-node-loop: build $(NODE_BENCH_READY) ## how long writes, large batches, cold reads and plain loops in Node hold up the event loop, with plots
	$(call step,bench-node-loop)
	@rm -f results/node-loop.jsonl
	for case in sustained "sustained --sync" "sustained $(NODE_LOOP_BATCHES)" "sustained $(NODE_LOOP_BATCHES) --sync" \
	    cold-read "cold-read --read-percent 50" plain-loop; do \
	  $(NODE_BENCH) run $$case $(NODE_LOOP_TARGETS) $(NODE_LOOP) --skip-missing \
	    --dir target/node-db --results results/node-loop.jsonl; \
	done
	$(NODE_BENCH) plot results/node-loop.jsonl

# OPEN="--tables 500 --stores 100 --rounds 1" make bench-open: the short form. Databases of 10,000 tables take 3 GB for a while.
OPEN ?=
OPEN_TARGETS ?= terrace classic-level lmdb better-sqlite3
bench-open: build $(NODE_SQLITE) ## creating and opening databases, with system calls counted, and a thousand in one process: table
	$(call step,bench-open)
	@rm -f results/open.jsonl
	$(NODE_BENCH) run open $(OPEN_TARGETS) $(OPEN) --skip-missing --dir target/node-db --results results/open.jsonl
	$(NODE_BENCH) report results/open.jsonl > results/open.md

# TUNING="--rounds 1 --only cacheSize" make bench-tuning: so often, and this option alone; the others keep their figures.
TUNING ?= --rounds 3
bench-tuning: build $(NODE_BENCH_READY) ## which option moves what in Node: the tables of docs/tuning.md
	$(call step,bench-tuning)
	node scripts/tuning.mjs $(TUNING)
	node scripts/embed.mjs results/tuning.md docs/tuning.md

# BACK_ENDS_BENCH="-n 3000 --seconds 1 --rounds 1" make bench-back-ends: the short form. --target NAME chooses.
BACK_ENDS_BENCH ?= --rounds 3
bench-back-ends: build $(NODE_BENCH_READY) ## the calls that programs make most, over every back-end in turns: table, plot, docs/back-ends.md
	$(call step,bench-back-ends)
	@rm -f results/back-ends.jsonl
	node bench/back-ends/main.js $(BACK_ENDS_BENCH) --dir target/node-db --results results/back-ends.jsonl
	$(NODE_BENCH) report results/back-ends.jsonl > results/back-ends.md
	$(NODE_BENCH) plot results/back-ends.jsonl
	sed '/: times as fast as /Q' results/back-ends.md | node scripts/embed.mjs /dev/stdin docs/back-ends.md costs

# BROWSER_BENCH="8000 1" make bench-browser: so many entries, and rounds.
BROWSER_BENCH ?= 100000 3
bench-browser: build $(BROWSER_READY) $(NODE_BENCH_READY) ## Level in Chromium's pages and workers and on IndexedDB, beside browser-level: table, plot, README of the package
	$(call step,bench-browser)
	@rm -f results/browser.jsonl
	node interop/browser/bench/main.mjs results/browser.jsonl $(BROWSER_BENCH)
	$(NODE_BENCH) report results/browser.jsonl > results/browser.md
	$(NODE_BENCH) plot results/browser.jsonl
	node scripts/embed.mjs results/browser.md packages/terrace/README.md browser

# BROWSERS_BENCH="8000 1" make bench-browsers: so many entries, and rounds.
BROWSERS_BENCH ?= 20000 3
bench-browsers: build $(BROWSER_READY) $(NODE_BENCH_READY) ## the same in an isolated page and a private window of Chromium, and in Firefox's windows: tables
	$(call step,bench-browsers)
	@scripts/setup firefox
	@rm -f results/browser-others.jsonl
	for browser in chromium-isolated chromium-private firefox firefox-private; do \
	  node interop/browser/bench/main.mjs results/browser-others.jsonl $(BROWSERS_BENCH) $$browser; \
	done
	$(NODE_BENCH) report results/browser-others.jsonl > results/browser-others.md

# BYTEWISE="--rounds 1 --milliseconds 20" make bench-bytewise: the short form.
BYTEWISE ?= --rounds 5
bench-bytewise: build ## what encoding and decoding structured keys costs, beside other encodings: table, README
	$(call step,bench-bytewise)
	node packages/bytewise/bench/main.js $(BYTEWISE) > results/bytewise.md
	node scripts/embed.mjs results/bytewise.md packages/bytewise/README.md bench

# HOOKS="--rounds 7 --puts 100000" make bench-hooks: the long form, 25 minutes; without, 3.
HOOKS ?= --rounds 3 --puts 30000
bench-hooks: build ## what hook functions, sublevels and listeners cost a put, beside other databases: table, guide
	$(call step,bench-hooks)
	node packages/terrace/bench/hooks.js --json results/hooks.json $(HOOKS) > results/hooks.md
	node scripts/embed.mjs results/hooks.md docs/hooks.md hooks

bench-slatedb: setup-tests build ## what operations of SlateLevel cost in requests to an object store: table, README of the package
	$(call step,bench-slatedb)
	node packages/back-ends/slatedb/bench/requests.js > results/slatedb-requests.md
	node scripts/embed.mjs results/slatedb-requests.md packages/back-ends/slatedb/README.md requests

# It has many-level, which is compared.
NET_BENCH_READY := packages/net/bench/node_modules/.package-lock.json

# NET="--rounds 1 --operations 20000" NET_IDLE=100 make bench-net: the short form.
NET ?= --rounds 5
NET_IDLE ?= 1000
bench-net: export TERRACE_BENCH_MODULES ?= $(CURDIR)/bench/node/node_modules
bench-net: build $(NET_BENCH_READY) $(NODE_BENCH_READY) ## what sharing a database over a socket costs, beside many-level, and idle clients: tables, README of the package
	$(call step,bench-net)
	@rm -f results/net.jsonl
	node packages/net/bench/main.js $(NET) --results results/net.jsonl > results/net.md
	@echo >> results/net.md
	node packages/net/bench/main.js --idle $(NET_IDLE) --results results/net.jsonl >> results/net.md
	node scripts/embed.mjs results/net.md packages/net/README.md bench

# NET_SOAK=200000 make soak-net: so many operations, else about half an hour of them.
NET_SOAK ?= 20000000
soak-net: build ## operations of all kinds on a server, those that fail and break off included: its memory must not grow
	$(call step,soak-net)
	node packages/net/bench/main.js --soak $(NET_SOAK)

# Three nodes of MariaDB on 127.0.0.1, with temporary data.
cluster: setup-tests ## a Galera cluster to play with: prints its addresses, ends on Ctrl-C
	node packages/back-ends/mysql/test/cluster/main.js

# CLUSTER_FAULTS="--form short --only kill,all" make cluster-faults: the short form, and these scenarios. Without: about seven minutes.
CLUSTER_FAULTS ?=
cluster-faults: build setup-tests ## a Galera cluster whose nodes are killed and hang while it is used: what became of the writes, in numbers
	$(call step,cluster-faults)
	node packages/back-ends/mysql/test/cluster/faults/main.js $(CLUSTER_FAULTS) --json results/mysql-cluster.json > results/mysql-cluster.md
	node scripts/embed.mjs results/mysql-cluster.md docs/mysql-cluster.md faults

# TERRACE_TIDB_URL=mysql://USER:PASSWORD@HOST:PORT/SCHEMA make suite-tidb. Without the variable nothing is run. The schema should be empty.
suite-tidb: build ## abstract-level's suite on a server of TiDB that you have started, beside the failures that are expected
	$(call step,suite-tidb)
	node packages/back-ends/mysql/test/tidb/run.mjs

test-mysql: build ## the tests of terrace-mysql on MySQL instead of MariaDB, but for those of clusters
	$(call step,test-mysql)
	@scripts/setup mysql
	TERRACE_TEST_PRODUCT=MySQL npm test --workspace packages/back-ends/mysql

# BYTEWISE_KEYS="20000 7" make bytewise-differential: so many keys, and the seed.
BYTEWISE_KEYS ?= 1000000 1
bytewise-differential: build ## random structured keys beside npm bytewise 1.1: the same bytes, both ways
	$(call step,bytewise-differential)
	cd packages/bytewise && node test/support/differential.js $(BYTEWISE_KEYS)

# NODE_LEAKS="10000 5" make node-leaks: operations of each kind a round, and rounds.
NODE_LEAKS ?= 300000 7
node-leaks: build ## what memory is left after millions of operations in Node
	$(call step,node-leaks)
	cd packages/terrace && node --expose-gc test/support/leaks.js $(NODE_LEAKS)

interop: build setup-tests ## LevelDB 1.20, 1.23, goleveldb, rusty-leveldb and Terrace use each other's databases
	$(call step,interop)
	/usr/bin/python3 interop/run.py

conformance: build ## the short form of back-ends: clients in front of databases on disk, and the tables of the docs
	$(call step,conformance)
	node --test --test-reporter=spec interop/back-ends/test/

# BACK_ENDS="--target LmdbLevel --job suite" make back-ends: this part alone; the others keep their results.
BACK_ENDS ?=
back-ends: build ## abstract-level's suite, our tests and probes over every back-end: results, the tables of docs/back-ends.md
	$(call step,back-ends)
	@scripts/setup mysql
	node interop/back-ends/run.js --results results/back-ends.json $(BACK_ENDS)
	node interop/back-ends/tables.js results/back-ends.json > target/back-ends.md
	node scripts/embed.mjs target/back-ends.md docs/back-ends.md

# SECONDS_EACH=20 make fuzz: so long for each target, else a minute.
fuzz: setup ## fuzz every decoder, and whole histories, for a bounded time (needs a nightly compiler)
	$(call step,fuzz)
	scripts/fuzz $(SECONDS_EACH)

# SOAK_SECONDS=3600 make soak: so long, else ten minutes. ARGUMENTS="--only kills" or "--replay SEED" chooses.
SOAK_SECONDS ?= 600
soak: build setup-tests ## power cuts, failing calls, damage, kills and races for a given time, with counts
	$(call step,soak)
	cargo build --quiet --package terrace-testkit --bins
	target/debug/terrace-soak --seconds $(SOAK_SECONDS) $(ARGUMENTS)

threads: setup ## the models, Miri and ThreadSanitizer (needs a nightly compiler)
	$(call step,threads)
	scripts/threads

# What the packages of terrace-cli have in their tests; what is published is optimised.
.PHONY: debug-program
debug-program: setup
	@npm run --silent build:program -w packages/cli -- --debug

house: setup-tests debug-program ## house rules: layering, links, sizes, leftovers, and what npm would publish
	$(call step,house)
	node --test --test-reporter=spec tests/house/ tests/packages/ interop/platforms/test/

options: setup ## what follows from the description of the options, crates/engine/options.json, in code and documents
	node scripts/options.mjs

modules: ## the picture of the engine's modules in ARCHITECTURE.md; circles that are gone off their list
	node tests/house/support/engine-picture.mjs | node scripts/embed.mjs /dev/stdin ARCHITECTURE.md modules
	node tests/house/support/update-circles.mjs

man: setup ## the manual of the program terrace, a page a command: docs/man
	cargo run --quiet --package terrace-cli -- man --dir docs/man

docs-inspecting: setup ## the output of the commands in docs/inspecting-leveldb.md
	TERRACE_UPDATE_DOCUMENTS=1 cargo test --quiet --package terrace-cli --test all documents::

fmt: ## format the Rust sources
	cargo fmt --all

docs-crates: ## the crates' documentation, in target/doc
	cargo doc --workspace --no-deps

clean: ## remove what was built
	cargo clean
	rm -rf node_modules packages/*/node_modules bench/node/node_modules interop/*/node_modules docs/site/node_modules docs/site/.pages packages/*/dist packages/*/*.node packages/*/npm/*/*.node packages/cli/built

include docs/site/site.mk
