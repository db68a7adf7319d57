// Says of the build for browsers that it is ES modules, as the rest of the package is not.

import { writeFileSync } from 'node:fs'

writeFileSync(new URL('../dist/browser/package.json', import.meta.url), '{ "type": "module" }\n')
