// Directories for tests. On Windows they are removed only at the end, when nothing in them is open.

export { temporaryDirectory as directory } from '../../../terrace/test/support/databases.js'
