# One short name a task, the same here and in CI. `make` alone lists them. tests/all.mk has the parts of the tests, bench/bench.mk the
# benchmarks, docs/site/site.mk the site.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Tells in a long log which step one is in, and how long the one before took.
step = @echo; echo "== $(1) · $$(date +%T)"

.PHONY: help setup setup-tests build demo check test test-all fmt clean options registry man modules docs-crates docs-inspecting
.PHONY: install-capi prebuilds audit release

help: ## list what can be made
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 24

# tests/run.mjs sees to all three before it comes to a part that needs them.
ifdef TERRACE_BUILT
setup setup-tests build: ;
else
setup: ## check what building needs, install npm packages
	@scripts/setup

setup-tests: ## the same, and what the tests need
	@scripts/setup tests

# The gates are built with the addon, so that the engine below both is compiled once.
export TERRACE_BUILD_WITH := --package terrace-bench --no-default-features --lib --bin terrace-gates
build: setup ## build the engine and the packages
	$(call step,build)
	npm run build
endif

demo: build ## the main job on real input
	node demo/demo.mjs

check: test-lint test-rules ## format, clippy, TypeScript, linter, rules of the repository: two minutes

# Without Node there is nothing that could run the parts; setup says so.
test: ## what belongs to a change: every package, a short form of each part, under 15 minutes
	@command -v node >/dev/null || scripts/setup
	@TERRACE_SHORT=1 node tests/run.mjs --setup setup-tests --build build --beside crates --from "$(FROM)" $(SHORT_PARTS)

# FROM=NAME make test-all: only that part and those behind it.
test-all: ## everything, in full: hours. A table of the parts at the end; each is a target of its own, test-NAME
	@command -v node >/dev/null || scripts/setup
	@node tests/run.mjs --setup setup-tests --build build --beside crates --from "$(FROM)" $(PARTS)

include tests/all.mk bench/bench.mk docs/site/site.mk

fmt: setup ## format all sources
	cargo fmt --all
	npm run format

options: setup ## what follows from the description of the options, crates/engine/options.json, in code and documents
	node scripts/options.mjs

registry: ## what follows from the list of back-ends, packages/copy/back-ends.json
	cp packages/copy/back-ends.json crates/cli/src/back_ends.json

man: setup ## the manual of the program terrace, a page a command: docs/man
	cargo run --quiet --package terrace-cli -- man --dir docs/man

modules: ## the picture of the engine's modules in ARCHITECTURE.md
	node tests/rules/support/engine-picture.mjs | node scripts/embed.mjs /dev/stdin ARCHITECTURE.md modules

docs-crates: ## the crates' documentation, in target/doc
	cargo doc --workspace --no-deps

docs-inspecting: setup ## the output of the commands in docs/inspecting-leveldb.md
	TERRACE_UPDATE_DOCUMENTS=1 cargo test --quiet --package terrace-cli --test all documents::

# make install-capi PREFIX=/usr DESTDIR=/tmp/package: for a package. docs/c-library.md says what goes where.
install-capi: ## build and install the C library, libterrace
	cargo build --release --package terrace-capi
	PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" LEVELDB_SONAME="$(LEVELDB_SONAME)" scripts/install-capi

# make prebuilds WHAT="library program" PLATFORMS="linux-arm64-musl win32-x64": these alone. CHECK=1: each twice, which must give the
# same bytes.
prebuilds: setup ## build addon, C library and program for every platform, and check what each file needs and how large it is
	$(call step,prebuilds)
	@scripts/setup prebuilds
	node scripts/prebuilds.mjs $(if $(CHECK),--check) $(WHAT) $(PLATFORMS)

audit: setup ## what is known against npm packages and crates: advisories, licences, sources
	$(call step,audit)
	@scripts/setup release
	scripts/audit

release: ## everything that a release consists of, but the upload: RELEASING.md
	$(call step,release)
	scripts/release

clean: ## remove what was built
	cargo clean
	rm -rf docs/site/.pages packages/cli/built
	git ls-files --others --ignored --exclude-standard --directory | grep -E '(^|/)(node_modules|dist)/$$|\.node$$|\.tsbuildinfo$$' | xargs -r rm -rf
