# The site of documents.

.PHONY: docs

# The site needs what npm installs and nothing else: no Rust, and no built package.
NPM_READY := node_modules/.package-lock.json
$(NPM_READY): package-lock.json
	npm ci --no-audit --no-fund
	@touch $@

docs: $(NPM_READY) docs/site/node_modules/.package-lock.json ## docs/ as a site with a search, and the API reference of the packages, in target/site
	cd docs/site && npm run build

test-docs: build setup-tests docs ## the site's programs and links, the codemod; in Chromium its pages, its search, and requests to elsewhere
	cd docs/site && npm test --silent
