# The parts of the tests, each a target test-NAME. `make test` runs SHORT_PARTS in their short form (TERRACE_SHORT=1), `make test-all`
# all PARTS in full, as a part run alone is. CONTRIBUTING.md lists what each needs. Long parts come first, so that lanes end together.

PACKAGES := $(patsubst %/package.json,%,$(wildcard packages/*/package.json packages/back-ends/*/package.json courses/*/package.json))
# test-net for packages/net, test-course-runner for courses/runner.
part_of = $(if $(filter courses/%,$(1)),course-)$(notdir $(1))
PACKAGE_PARTS := $(foreach package,$(PACKAGES),$(call part_of,$(package)))
SHORT_PARTS := crates terrace toolbox interop net core browser mysql slatedb gates capi ruby lmdb rules \
  $(filter-out terrace toolbox net core mysql slatedb lmdb,$(PACKAGE_PARTS)) back-ends demo
PARTS := $(SHORT_PARTS) lint soak load platforms windows miri tsan loom targets arm64 mysql-on-mysql firefox webkit \
  bundlers downstream upgrading published archives docs bench workflow

.PHONY: parts $(addprefix test-,$(PARTS)) gates-update soak fuzz back-ends cluster cluster-faults suite-tidb soak-net \
  node-leaks bytewise-differential debug-program dev-build rehearse

parts: ## names of the parts of test-all
	@printf '%s\n' $(PARTS)

# Prints failures and counts, and times of files. A file that takes half an hour hangs.
NODE_TEST := node --test --test-timeout=1800000 --test-reporter=$(CURDIR)/tests/support/reporter.mjs

# Packages that only one thing needs are installed below it. npm writes this file last, and none of their scripts runs.
NPM_CI = @scripts/alone bash -c '[[ $@ -nt $< ]] || { cd $* && npm ci --ignore-scripts --no-audit --no-fund $(1) && touch node_modules/.package-lock.json; }'
%/node_modules/.package-lock.json: %/package-lock.json
	$(call NPM_CI)

# Some of the programs are for other processors and systems than this one.
FOREIGN := tests/platforms/node_modules/.package-lock.json tests/platforms/windows/node_modules/.package-lock.json
$(FOREIGN): %/node_modules/.package-lock.json: %/package-lock.json
	$(call NPM_CI,--force)

test-lint: setup ## format, clippy, TypeScript, linter
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	npm run --silent lint
	npm run --silent typecheck

test-rules: setup ## rules of the repository: sizes of files, layers, names, options, packages
	$(NODE_TEST) tests/rules/*.test.mjs

# The registry of npm packages that tests start on loopback.
RELEASE_READY := tests/release/node_modules/.package-lock.json

test-demo: build ## the demo, without its screen
	node demo/demo.mjs

# All that is built with assertions, in one selection: with another one, crates below the engine may have other features, and cargo
# would compile it again.
dev-build: setup ## the crates with assertions, programs and tests
	cargo build --quiet --workspace --lib --bins --tests --examples

# On Windows without those whose programs fork, or compare Unix's system calls.
CRATES_EXCEPT := terrace-capi $(if $(filter Windows_NT,$(OS)),terrace-testkit terrace-bench)
test-crates: setup-tests dev-build ## the crates, doc examples included
	cargo test --quiet --no-fail-fast --workspace $(addprefix --exclude ,$(CRATES_EXCEPT))

test-capi: setup-tests dev-build ## the C library: programs in C, beside LevelDB, under sanitizers and valgrind
	TERRACE_LIB="$(CURDIR)/target/debug/libterrace.so" cargo test --quiet --workspace --test programs

# The second time over LevelDB, whose interface is the same. LEVELDB_LIB names it.
LEVELDB_LIB ?= $(firstword $(wildcard /usr/lib/*/libleveldb.so.1d))
test-ruby: setup-tests dev-build ## the gem, over the C library and over LevelDB
	TERRACE_LIB="$(CURDIR)/target/debug/libterrace.so" ruby -w ruby/test/all.rb
	TERRACE_LIB="$(LEVELDB_LIB)" ruby -w ruby/test/all.rb

$(foreach package,$(PACKAGES),$(eval test-$(call part_of,$(package)): build setup-tests; npm test --silent --workspace $(package)))

# The tests of terrace-cli run the program that has debug assertions; what is published is optimised.
test-cli test-published: debug-program
debug-program: setup
	@npm run --silent build:program -w packages/cli -- --debug

BROWSER_READY := tests/browser/node_modules/.package-lock.json
test-browser: build setup-tests $(BROWSER_READY) ## Level and the client in Chromium: abstract-level's suite, pages, tabs, kills, bundlers, the viewer
	@if [[ -x "$${CHROMIUM:-/usr/bin/chromium}" ]]; then node viewer/build.mjs && cd tests/browser && npm test --silent; \
	else echo 'skipped: Chromium is missing (apt-get install chromium; CHROMIUM names one elsewhere)'; fi

test-firefox: build $(BROWSER_READY) ## Level in Firefox: pages that share a database, workers, both storages, the suite in each place
	@scripts/setup firefox
	cd tests/browser && TERRACE_SUITE=1 npm run --silent test:firefox

test-webkit: build $(BROWSER_READY) ## Level in WebKitGTK, which has no files for it: pages and workers fall to IndexedDB
	@scripts/setup webkit
	cd tests/browser && TERRACE_SUITE=1 npm run --silent test:webkit

test-interop: build setup-tests $(if $(TERRACE_SHORT),dev-build) ## LevelDB 1.20, 1.23, goleveldb, rusty-leveldb and Terrace use each other's databases
	/usr/bin/python3 tests/interop/run.py $(if $(TERRACE_SHORT),--short)

GATES := target/release/terrace-gates
RELEASE_BUILD := cargo build --release --quiet --package terrace-node $(TERRACE_BUILD_WITH)
# Cases run under valgrind, as many at once as there are cores; where it is missing, only written bytes are compared.
test-gates: setup-tests ## instructions, system calls, allocations, written bytes of fixed work against committed counts
	$(RELEASE_BUILD)
	$(GATES)

gates-update: setup-tests ## accept the current counts: writes crates/bench/gates.json
	$(RELEASE_BUILD)
	$(GATES) --update

test-loom: setup ## models of what threads share, in every order of what they do
	scripts/threads loom

test-miri: setup ## unsafe code, interpreted (needs a nightly compiler)
	scripts/threads miri

test-tsan: setup ## threads under ThreadSanitizer (needs a nightly compiler)
	scripts/threads tsan

WINDOWS := x86_64-pc-windows-gnu
test-targets: setup ## the engine compiles for platforms where it has no files of its own
	@if command -v rustup >/dev/null; then \
	  for target in wasm32-unknown-unknown $(WINDOWS); do \
	    scripts/alone rustup target add "$$target"; \
	    cargo check --quiet --package terrace-engine --package terrace-memory --no-default-features --target "$$target"; \
	  done; \
	else echo 'skipped: rustup, which gets their standard libraries, is missing'; fi

# BACK_ENDS="--target LmdbLevel --job suite": this part alone.
BACK_ENDS ?=
test-back-ends: build setup-tests ## abstract-level's suite, core's and the toolbox's tests, and probes over every back-end, and what the docs say of them
	@$(if $(TERRACE_SHORT),,scripts/setup mysql)
	node tests/back-ends/run.js $(if $(TERRACE_SHORT),--target MemoryLevel --job ttl --job lock --job streams,$(BACK_ENDS))
	$(NODE_TEST) tests/back-ends/test/$(if $(TERRACE_SHORT),[dk]*.test.js,*.test.js)

back-ends: build setup-tests ## the same run: results, and the tables of docs/back-ends.md
	@scripts/setup mysql
	node tests/back-ends/run.js --results bench/results/back-ends.json $(BACK_ENDS)
	node tests/back-ends/tables.js bench/results/back-ends.json > target/back-ends.md
	node scripts/embed.mjs target/back-ends.md docs/back-ends.md

test-mysql-on-mysql: build ## the tests of terrace-mysql on MySQL instead of MariaDB, but for those of clusters
	@scripts/setup mysql
	TERRACE_TEST_PRODUCT=MySQL npm test --silent --workspace packages/back-ends/mysql

# ARGUMENTS="--runtime Bun --job suite": this alone. RESULTS=bench/results/platforms.json: renews these counts there.
test-platforms: build tests/platforms/node_modules/.package-lock.json $(RELEASE_READY) ## the published builds in other versions of Node, on arm64 and musl, in Bun and in Deno
	@scripts/setup platforms
	@scripts/setup prebuilds
	node scripts/prebuilds.mjs addon linux-x64-gnu linux-arm64-gnu linux-x64-musl
	@tests/platforms/musl/prepare.sh
	node tests/platforms/main.mjs $(if $(RESULTS),--results $(RESULTS)) $(ARGUMENTS)
	$(NODE_TEST) tests/platforms/test/*.test.js

# zig has the C compiler that zstd needs.
ARM64_TEST := PATH="$(CURDIR)/target/prebuilds/tools/bin:$$PATH" cargo-zigbuild test --quiet --target aarch64-unknown-linux-gnu
test-arm64: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER = qemu-aarch64-static -L /usr/aarch64-linux-gnu
test-arm64: setup ## tests of what is written for AArch64 alone, in an emulator
	@scripts/setup platforms
	@scripts/setup prebuilds
	$(ARM64_TEST) --package terrace-format --package terrace-env --lib
	$(ARM64_TEST) --package terrace-env --test all mapped_log::

# ARGUMENTS="--only kills": one of the jobs of tests/platforms/windows/jobs.js. RESULTS=bench/results/windows.json: as above.
test-windows: export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER = x86_64-w64-mingw32-gcc
test-windows: export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER = $(CURDIR)/tests/platforms/windows/wine.sh
test-windows: build tests/platforms/windows/node_modules/.package-lock.json ## in wine: the environment of Windows, the engine, the program, the Node package, classic-level beside it
	@scripts/setup windows
	@scripts/setup prebuilds
	@tests/platforms/windows/prepare.sh
	node scripts/prebuilds.mjs addon program win32-x64
	cargo test --quiet --target $(WINDOWS) --package terrace-env --package terrace-engine
	cargo test --quiet --target $(WINDOWS) --package terrace-cli -- --test-threads 1
	node tests/platforms/windows/run.js $(if $(RESULTS),--results $(RESULTS)) $(ARGUMENTS)

test-bundlers: build setup-tests $(BROWSER_READY) tests/bundlers/node_modules/.package-lock.json ## our packages, installed, in Jest, TypeScript, esbuild, webpack, Vite, as Electron has them, and from development servers
	cd tests/bundlers && npm test --silent

DOWNSTREAM := tests/downstream tests/downstream/leveldown
test-downstream: build $(DOWNSTREAM:%=%/node_modules/.package-lock.json) ## programs from npm on our Node packages, beside classic-level and leveldown
	cd tests/downstream && npm test --silent
	cd tests/downstream/leveldown && npm test --silent

test-upgrading: build tests/upgrading/node_modules/.package-lock.json ## the recipes of UPGRADING.md, each on a database of the real old package
	cd tests/upgrading && npm test --silent

test-published: build tests/published/checkers/node_modules/.package-lock.json $(RELEASE_READY) ## what npm would publish: the files of each package, publint, are the types wrong; how it is published
	$(NODE_TEST) tests/published/*.test.mjs
	cd tests/published/checkers && npm test --silent
	$(NODE_TEST) tests/release/test/*.test.mjs

test-archives: prebuilds ## programs in C with the archives of the C library by pkg-config and CMake, and the programs, as far as they run here
	$(NODE_TEST) tests/published/archives/*.test.mjs

# Go gets the checker of workflows, in the version that is named here.
ACTIONLINT := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
test-workflow: setup-tests ## the workflows of hosted CI and of releases: their syntax
	go run $(ACTIONLINT)

# Needs what `scripts/release pack` makes.
rehearse: $(RELEASE_READY) tests/platforms/node_modules/.package-lock.json ## publish a release to registries on loopback, and use it from there in Node, Bun, Deno, Ruby and Rust
	node tests/release/rehearse.mjs

LOAD := cargo run --release --quiet --package terrace-testkit --bin terrace-load --
# Entries of 116 bytes: 9 million are 1 GB. Space after deletes must come back within a minute.
test-load: setup ## ten million entries in order, five at random, and 1 GB of which 90 % are deleted
	$(LOAD) sorted 10000000
	$(LOAD) random 5000000
	$(LOAD) shrink 9000000

test-soak: SOAK_SECONDS := 300
test-soak soak: setup-tests build ## power cuts, failing calls, damage, kills and races for SOAK_SECONDS (soak: ten minutes), with counts
	cargo build --quiet --package terrace-testkit --bins
	target/debug/terrace-soak --seconds $(SOAK_SECONDS) $(ARGUMENTS)
# ARGUMENTS="--only kills" or "--replay SEED" make soak chooses.
SOAK_SECONDS ?= 600

# SECONDS_EACH=20 make fuzz: so long for each target, else a minute.
fuzz: setup ## fuzz every decoder, and whole histories, for a bounded time (needs a nightly compiler)
	scripts/fuzz $(SECONDS_EACH)

# Three nodes of MariaDB on 127.0.0.1, with temporary data.
cluster: setup-tests ## a Galera cluster to play with: prints its addresses, ends on Ctrl-C
	node packages/back-ends/mysql/test/cluster/main.js

# CLUSTER_FAULTS="--form short --only kill,all" make cluster-faults: the short form, and these scenarios. Without: about seven minutes.
CLUSTER_FAULTS ?=
cluster-faults: build setup-tests ## a Galera cluster whose nodes are killed and hang while it is used: what became of the writes, in numbers
	node packages/back-ends/mysql/test/cluster/faults/main.js $(CLUSTER_FAULTS) --json bench/results/mysql-cluster.json > bench/results/mysql-cluster.md
	node scripts/embed.mjs bench/results/mysql-cluster.md docs/mysql-cluster.md faults

# TERRACE_TIDB_URL=mysql://USER:PASSWORD@HOST:PORT/SCHEMA make suite-tidb. Without the variable nothing is run. The schema should be empty.
suite-tidb: build ## abstract-level's suite on a server of TiDB that you have started, beside the failures that are expected
	node packages/back-ends/mysql/test/tidb/run.mjs

# NET_SOAK=200000 make soak-net: so many operations, else about half an hour of them.
NET_SOAK ?= 20000000
soak-net: build ## operations of all kinds on a server, those that fail and break off included: its memory must not grow
	node bench/packages/net/main.js --soak $(NET_SOAK)

# NODE_LEAKS="10000 5" make node-leaks: operations of each kind a round, and rounds.
NODE_LEAKS ?= 300000 7
node-leaks: build ## what memory is left after millions of operations in Node
	cd packages/terrace && node --expose-gc test/support/leaks.js $(NODE_LEAKS)

# BYTEWISE_KEYS="20000 7" make bytewise-differential: so many keys, and the seed.
BYTEWISE_KEYS ?= 1000000 1
bytewise-differential: build ## random structured keys beside npm bytewise 1.1: the same bytes, both ways
	cd packages/bytewise && node test/support/differential.js $(BYTEWISE_KEYS)
