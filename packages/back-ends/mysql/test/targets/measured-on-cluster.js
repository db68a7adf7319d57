import { mysqlClass } from './measured-class.js'
import { clusterUrl } from './servers.js'

export const Database = mysqlClass(() => clusterUrl(0))
