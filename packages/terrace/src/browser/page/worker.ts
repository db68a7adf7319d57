/** The script of a leader's worker. */

import { openHosted } from './hosted-database.js'
import { serveTabs } from './serve-tabs.js'

serveTabs(openHosted)
