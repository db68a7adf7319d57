import { mysqlClass } from './measured-class.js'
import { urlOfMysql } from './servers.js'

export const Database = mysqlClass(urlOfMysql)
