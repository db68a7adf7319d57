/**
 * One database for several processes of a machine: what `shared: true` is made of.
 *
 * @packageDocumentation
 */

export { type OwnerMethods, SharedBackend, type SharedOptions } from './shared-backend.js'
