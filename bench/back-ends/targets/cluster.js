import { clusterUrl } from '../../../tests/back-ends/servers.js'
import { mysqlClass } from '../mysql-class.js'

export const Database = mysqlClass(() => clusterUrl(0))
