# The targets of the site of documents. The Makefile includes this file.

.PHONY: docs test-docs

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
