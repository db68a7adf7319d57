/** The script of a leader's worker, and of one that does a task. */

import { openHosted } from './hosted-database.js'
import { serveTabs } from './serve-tabs.js'
import { serveTasks } from './tasks.js'

serveTabs(openHosted)
serveTasks()
