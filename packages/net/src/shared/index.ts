/**
 * One database for several processes of a machine: what `shared: true` is made of.
 *
 * @packageDocumentation
 */

export { SharedBackend, type SharedOptions } from './shared-backend.js'
