import { mysqlClass } from './measured-class.js'
import { serverUrl } from './servers.js'

export const Database = mysqlClass(serverUrl)
