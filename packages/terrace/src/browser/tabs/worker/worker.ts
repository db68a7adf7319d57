/** The script of a leader's worker, of one that has a database open for its page alone, and of one that does a task. */

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

// The worker of the tab that is to lead next waits, and is to be quick then. A failure is told when the database is opened.
if (hasSyncFiles()) loadStore().catch(() => {})
