# The benchmarks, and the tests of them. Each writes bench/results/NAME.jsonl, tables and pictures from it, and parts of documents.

.PHONY: bench bench-rivals bench-cold bench-cold-gets bench-latency bench-scale bench-node bench-node-writes bench-node-loop bench-open \
  bench-memory bench-tuning bench-back-ends bench-browser bench-browsers bench-bytewise bench-leveldown bench-leveldown-programs bench-hooks bench-slatedb bench-net bench-design

NODE_BENCH_READY := bench/node/node_modules/.package-lock.json

# SQLite comes as source for Node 20. Where it does not compile, it is left out of the benchmark, which says so.
NODE_SQLITE := bench/node/node_modules/better-sqlite3/build/Release/better_sqlite3.node
$(NODE_SQLITE): $(NODE_BENCH_READY)
	cd bench/node && npm rebuild better-sqlite3 || true
	@[[ ! -e $@ ]] || touch $@

# It has many-level, which is compared.
NET_BENCH_READY := bench/packages/net/node_modules/.package-lock.json
LEVELDOWN_BENCH_READY := bench/packages/leveldown/node_modules/.package-lock.json
LEVELDOWN_PROGRAMS_READY := tests/downstream/leveldown/node_modules/.package-lock.json

test-bench: build setup-tests $(NODE_BENCH_READY) $(NET_BENCH_READY) $(LEVELDOWN_PROGRAMS_READY) ## the benchmarks in Node run, at the smallest size
	node tests/downstream/leveldown/prepare.js
	cd bench/node && npm test --silent
	$(NODE_TEST) bench/back-ends/test/*.test.js bench/packages/*/test/*.test.js

# BENCH="--num 10000000 --benchmarks fillrandom" make bench: so much, and these workloads. Without: a short form.
BENCH ?= --num 200000
bench: setup ## db_bench's workloads on Terrace, with lines of JSON and plots in bench/results/
	cargo build --release --quiet --package terrace-cli
	@rm -f bench/results/terrace.jsonl
	target/release/terrace bench $(BENCH) --db target/bench-db --results bench/results/terrace.jsonl
	target/release/terrace bench --plot bench/results/terrace.jsonl

# A few rows of the table of rivals, and a picture of more rows, Node's among them.
README_TABLE := node bench/readme-table.mjs bench/results/summary.svg | node scripts/embed.mjs /dev/stdin README.md results

# RIVALS="--engines leveldb,rocksdb --rounds 5" make bench-rivals chooses; RIVALS="--num 100000" is the short form.
# LEVELDB_HEAD=DIRECTORY, a checkout of LevelDB, adds that to the system's LevelDB.
LEVELDB_HEAD ?=
bench-rivals: setup $(NODE_BENCH_READY) ## the same on LevelDB, RocksDB, LMDB, fjall, redb and Terrace in turns: tables, plots, README
	@scripts/setup bench
	cd bench/rivals && cargo build --release
	bench/rivals/target/release/terrace-rivals --db target/rivals-db $(RIVALS) \
	  $(if $(LEVELDB_HEAD),--leveldb-head "$$(bench/leveldb-head $(LEVELDB_HEAD))")
	$(README_TABLE)

# Databases of about 4 and 20 times 256 MiB, of values that do not compress; needs root, 25 GB of disk for a while, and an hour.
# COLD="--cold 200 --cold-nums 2500000 --rounds 1 --reads 400" make bench-cold: the short form.
COLD ?= --cold 256 --cold-nums 9000000,46000000 --rounds 2 --reads 4000
COLD_ENGINES ?= leveldb,rocksdb,lmdb
bench-cold: setup ## databases larger than memory, beside LevelDB, RocksDB and LMDB: times, reads of the device, bytes
	@scripts/setup bench
	cd bench/rivals && cargo build --release
	bench/rivals/target/release/terrace-rivals --engines $(COLD_ENGINES) --compression_ratio 1 \
	  --db target/cold-db --results bench/results/cold.jsonl $(COLD)

# Only reads by key, in more rounds: on a shared disk, slow phases last for minutes.
COLD_GETS := readrandom@4000,readrandom,readrandom:32@125,readmissing@4000,readmissing,seekrandom,rangerandom@100
bench-cold-gets: setup ## gets, seeks and ranges of databases larger than memory, in three rounds: times, reads of the device
	@scripts/setup bench
	cd bench/rivals && cargo build --release
	bench/rivals/target/release/terrace-rivals --engines $(COLD_ENGINES) --compression_ratio 1 \
	  --db target/cold-db --results bench/results/cold-gets.jsonl --cold 256 --cold-nums 46000000,9000000 \
	  --rounds 3 --reads 1000 --benchmarks $(COLD_GETS)

# LATENCY="--num 100000000" make bench-latency: so much.
LATENCY ?= --num 20000000
bench-latency: setup ## latencies over time while entries are written without pause, with a plot
	cargo build --release --quiet --package terrace-cli
	@rm -f bench/results/latency.jsonl
	for settings in "" --leveldb; do \
	  target/release/terrace bench $(LATENCY) $$settings --benchmarks fillrandom --histogram \
	    --db target/bench-db --results bench/results/latency.jsonl; \
	done
	target/release/terrace bench --plot bench/results/latency.jsonl

# The number of entries. 100 million are 11 GB, may take 33 GB of disk for a while, and need about half an hour. The run first
# checks that there is room for the database, and removes it at the end.
SCALE ?= 100000000
SCALE_STEPS := fillrandom,readrandom,readseq,compact,readrandom,readmissing,readhot,readseq,seekrandom
bench-scale: setup ## what operations cost with a million entries and with SCALE, bytes written, memory
	cargo build --release --quiet --package terrace-cli
	@rm -f bench/results/scale.jsonl
	for num in 1000000 $(SCALE); do \
	  target/release/terrace bench --num $$num --reads 1000000 --benchmarks $(SCALE_STEPS) \
	    --db target/bench-db --results bench/results/scale.jsonl; \
	done
	target/release/terrace bench --scale bench/results/scale.jsonl | tee bench/results/scale.md

NODE_BENCH := node bench/node/src/main.js
NODE_TARGETS ?= terrace classic-level MemoryLevel memory-level lmdb better-sqlite3

# NODE_TARGETS="terrace classic-level" NODE_TABLE="-n 30000 --rounds 1" make bench-node: the short form.
NODE_TABLE ?= --rounds 3
bench-node: build $(NODE_SQLITE) ## what operations cost in Node, beside classic-level and others: table, plot, README
	@rm -f bench/results/node.jsonl
	$(NODE_BENCH) run table $(NODE_TARGETS) $(NODE_TABLE) --skip-missing --dir target/node-db --results bench/results/node.jsonl
	$(NODE_BENCH) report bench/results/node.jsonl > bench/results/node.md
	$(NODE_BENCH) plot bench/results/node.jsonl
	$(README_TABLE)

# MEMORY=1 make bench-memory: so many rounds.
MEMORY ?= 3
bench-memory: build ## the memory of a million entries of MemoryLevel beside memory-level's: table
	node bench/packages/terrace/memory.js $(MEMORY) > bench/results/memory.md

# NODE_WRITES="-n 1000000" make bench-node-writes: so many entries, else ten million in order and three at random.
NODE_WRITES ?=
NODE_WRITE_TARGETS ?= terrace terrace:server terrace:leveldb classic-level lmdb
bench-node-writes: build $(NODE_BENCH_READY) ## the time of each batch while many are written in Node, with plots
	@rm -f bench/results/node-writes.jsonl
	for order in sorted random; do \
	  $(NODE_BENCH) run sorted-write $(NODE_WRITE_TARGETS) $(NODE_WRITES) --key-order $$order --skip-missing \
	    --dir target/node-db --results bench/results/node-writes.jsonl; \
	done
	$(NODE_BENCH) plot bench/results/node-writes.jsonl

# NODE_LOOP="--seconds 2" make bench-node-loop: the duration of each of the seven cases. The cases with ten thousand entries per
# batch write one batch after the other.
NODE_LOOP ?= --seconds 30
NODE_LOOP_TARGETS ?= terrace terrace:leveldb classic-level
NODE_LOOP_BATCHES := --batch-size 10000 --concurrency 1
bench-node-loop: build $(NODE_BENCH_READY) ## how long writes, large batches, cold reads and plain loops in Node hold up the event loop, with plots
	@rm -f bench/results/node-loop.jsonl
	for case in sustained "sustained --sync" "sustained $(NODE_LOOP_BATCHES)" "sustained $(NODE_LOOP_BATCHES) --sync" \
	    cold-read "cold-read --read-percent 50" plain-loop; do \
	  $(NODE_BENCH) run $$case $(NODE_LOOP_TARGETS) $(NODE_LOOP) --skip-missing \
	    --dir target/node-db --results bench/results/node-loop.jsonl; \
	done
	$(NODE_BENCH) plot bench/results/node-loop.jsonl

# OPEN="--tables 500 --stores 100 --rounds 1" make bench-open: the short form. Databases of 10,000 tables take 3 GB for a while.
OPEN ?=
OPEN_TARGETS ?= terrace classic-level lmdb better-sqlite3
bench-open: build $(NODE_SQLITE) ## creating and opening databases, with system calls counted, and a thousand in one process: table
	@rm -f bench/results/open.jsonl
	$(NODE_BENCH) run open $(OPEN_TARGETS) $(OPEN) --skip-missing --dir target/node-db --results bench/results/open.jsonl
	$(NODE_BENCH) report bench/results/open.jsonl > bench/results/open.md

# TUNING="--rounds 1 --only cacheSize" make bench-tuning: so often, and this option alone; the others keep their figures.
TUNING ?= --rounds 3
bench-tuning: build $(NODE_BENCH_READY) ## which option moves what in Node: the tables of docs/tuning.md
	node bench/tuning/main.mjs $(TUNING)
	node scripts/embed.mjs bench/results/tuning.md docs/tuning.md

# BACK_ENDS_BENCH="-n 3000 --seconds 1 --rounds 1" make bench-back-ends: the short form. --target NAME chooses.
BACK_ENDS_BENCH ?= --rounds 3
bench-back-ends: build $(NODE_BENCH_READY) ## the calls that programs make most, over every back-end in turns: table, plot, docs/back-ends.md
	@rm -f bench/results/back-ends.jsonl
	node bench/back-ends/main.js $(BACK_ENDS_BENCH) --dir target/node-db --results bench/results/back-ends.jsonl
	$(NODE_BENCH) report bench/results/back-ends.jsonl > bench/results/back-ends.md
	$(NODE_BENCH) plot bench/results/back-ends.jsonl
	sed '/: times as fast as /Q' bench/results/back-ends.md | node scripts/embed.mjs /dev/stdin docs/back-ends.md costs

# BROWSER_BENCH="8000 1" make bench-browser: so many entries, and rounds.
BROWSER_BENCH ?= 100000 3
bench-browser: build $(BROWSER_READY) $(NODE_BENCH_READY) ## Level in Chromium's pages and workers and on IndexedDB, beside browser-level: table, plot, docs/browser.md
	@rm -f bench/results/browser.jsonl
	node bench/browser/main.mjs bench/results/browser.jsonl $(BROWSER_BENCH)
	$(NODE_BENCH) report bench/results/browser.jsonl > bench/results/browser.md
	$(NODE_BENCH) plot bench/results/browser.jsonl
	node scripts/embed.mjs bench/results/browser.md docs/browser.md browser

# BROWSERS_BENCH="8000 1" make bench-browsers: so many entries, and rounds.
BROWSERS_BENCH ?= 20000 3
bench-browsers: build $(BROWSER_READY) $(NODE_BENCH_READY) ## the same in an isolated page and a private window of Chromium, and in Firefox's windows: tables
	@scripts/setup firefox
	@rm -f bench/results/browser-others.jsonl
	for browser in chromium-isolated chromium-private firefox firefox-private; do \
	  node bench/browser/main.mjs bench/results/browser-others.jsonl $(BROWSERS_BENCH) $$browser; \
	done
	$(NODE_BENCH) report bench/results/browser-others.jsonl > bench/results/browser-others.md

# BYTEWISE="--rounds 1 --milliseconds 20" make bench-bytewise: the short form.
BYTEWISE ?= --rounds 5
bench-bytewise: build ## what encoding and decoding structured keys costs, beside other encodings: table, README
	node bench/packages/bytewise/main.js $(BYTEWISE) > bench/results/bytewise.md
	node scripts/embed.mjs bench/results/bytewise.md packages/bytewise/README.md bench

# LEVELDOWN="--rounds 3 --entries 2000" make bench-leveldown: the short form.
LEVELDOWN ?=
bench-leveldown: build $(LEVELDOWN_BENCH_READY) ## what calls with callbacks cost, beside leveldown and memdown: tables
	@rm -f bench/results/leveldown.jsonl
	node bench/packages/leveldown/main.js $(LEVELDOWN) --results bench/results/leveldown.jsonl > bench/results/leveldown.md

# LEVELDOWN_PROGRAMS="--rounds 1 --size 0.1" make bench-leveldown-programs: the short form. --only NAME chooses.
LEVELDOWN_PROGRAMS ?= --rounds 5
bench-leveldown-programs: build $(LEVELDOWN_PROGRAMS_READY) ## what programs from npm cost on terrace-leveldown, beside leveldown: tables, a column in the table of programs
	node tests/downstream/leveldown/prepare.js
	@rm -f bench/results/leveldown-programs.jsonl
	node bench/packages/leveldown/programs.js $(LEVELDOWN_PROGRAMS) --results bench/results/leveldown-programs.jsonl \
	  > bench/results/leveldown-programs.md
	node bench/packages/leveldown/columns.js tests/downstream/leveldown/README.md \
	  | node scripts/embed.mjs /dev/stdin tests/downstream/leveldown/README.md programs

# HOOKS="--rounds 7 --puts 100000" make bench-hooks: the long form, 25 minutes; without, 3.
HOOKS ?= --rounds 3 --puts 30000
bench-hooks: build ## what hook functions, sublevels and listeners cost a put, beside other databases: table, guide
	node bench/packages/terrace/hooks.js --json bench/results/hooks.json $(HOOKS) > bench/results/hooks.md
	node scripts/embed.mjs bench/results/hooks.md docs/hooks.md hooks

bench-slatedb: setup-tests build ## what operations of SlateLevel cost in requests to an object store: table, README of the package
	node bench/packages/slatedb/requests.js > bench/results/slatedb-requests.md
	node scripts/embed.mjs bench/results/slatedb-requests.md packages/back-ends/slatedb/README.md requests

# NET="--rounds 1 --operations 20000" NET_IDLE=100 make bench-net: the short form.
NET ?= --rounds 5
NET_IDLE ?= 1000
bench-net: export TERRACE_BENCH_MODULES ?= $(CURDIR)/bench/node/node_modules
bench-net: build $(NET_BENCH_READY) $(NODE_BENCH_READY) ## what sharing a database over a socket costs, beside many-level, and idle clients: tables, README of the package
	@rm -f bench/results/net.jsonl
	node bench/packages/net/main.js $(NET) --results bench/results/net.jsonl > bench/results/net.md
	@echo >> bench/results/net.md
	node bench/packages/net/main.js --idle $(NET_IDLE) --results bench/results/net.jsonl >> bench/results/net.md
	node scripts/embed.mjs bench/results/net.md packages/net/README.md bench

# DESIGN="-n 20000 --rounds 1" make bench-design: the short form.
DESIGN ?= -n 500000 --rounds 3
bench-design: build ## what long keys cost, and two kinds of entries in one database or in two: tables, docs/key-design.md, docs/one-database-or-many.md
	node bench/design/key-length.js $(DESIGN) > bench/results/key-length.md
	node bench/design/one-or-many.js $(DESIGN) > bench/results/one-or-many.md
	node scripts/embed.mjs bench/results/key-length.md docs/key-design.md key-length
	node scripts/embed.mjs bench/results/one-or-many.md docs/one-database-or-many.md
