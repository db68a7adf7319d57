# The targets of the site of documents. The Makefile includes this file.

.PHONY: docs test-docs docs-programs bench-design

# The site needs what npm installs and nothing else: no Rust, and no built package.
NPM_READY := node_modules/.package-lock.json
$(NPM_READY): package-lock.json
	npm ci
	@touch $@

DOCS_READY := docs/site/node_modules/.package-lock.json
$(DOCS_READY): docs/site/package-lock.json
	cd docs/site && npm ci --ignore-scripts
	@touch $@

docs: $(NPM_READY) $(DOCS_READY) ## docs/ as a site with a search, and the API reference of the packages, in target/site
	$(call step,docs)
	cd docs/site && npm run build

docs-programs: build ## programs and links of the site's pages, and the codemod, without building the site
	$(call step,docs-programs)
	node --test --test-reporter=./tests/support/reporter.mjs docs/site/test/*.test.js

test-docs: build docs ## builds the site, and looks for broken links and outside requests; searches and runs pages' programs in Chromium
	$(call step,test-docs)
	cd docs/site && npm test

# DESIGN="-n 20000 --rounds 1" make bench-design: the short form.
DESIGN ?= -n 500000 --rounds 3
bench-design: build ## what long keys cost, and two kinds of entries in one database or in two: tables, docs/key-design.md, docs/one-database-or-many.md
	$(call step,bench-design)
	node bench/design/key-length.js $(DESIGN) > results/key-length.md
	node bench/design/one-or-many.js $(DESIGN) > results/one-or-many.md
	node scripts/embed.mjs results/key-length.md docs/key-design.md key-length
	node scripts/embed.mjs results/one-or-many.md docs/one-database-or-many.md
