/**
 * Shares one database among several processes of a machine. The option `shared: true` uses it.
 *
 * @packageDocumentation
 */

export { type OwnerMethods, SharedBackend, type SharedOptions } from './shared-backend.js'
