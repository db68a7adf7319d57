/** The script of a leader's worker, of a worker that opens a database for its page alone, and of one that does a task. */

import { loadStore } from '../../load-modules.js'
import { hasSyncFiles } from '../../opfs/file-pool.js'
import { greetPage } from '../channel/greeting.js'
import { openHosted } from './hosted-database.js'
import { serveOwn } from './serve-own.js'
import { serveTabs } from './serve-tabs.js'
import { serveTasks } from './serve-tasks.js'

serveTabs(openHosted)
serveOwn(openHosted)
serveTasks()
greetPage()

// Loaded in advance, because the worker of the tab that leads next waits now and must open the database quickly then. That
// open reports a failure.
if (hasSyncFiles()) loadStore().catch(() => {})
