/**
 * A server that shares a database with other processes and machines.
 *
 * @packageDocumentation
 */

export type { NetErrorCode } from '../protocol/errors.js'
export type { FeedChange, FeedReading, ServedFeed } from './feed-source.js'
export type { Limits, Method, Peer, ServerOptions, User } from './options.js'
export type { Grant, Permissions, Right } from './permissions.js'
export { createServer, Server } from './server.js'
export type { OpenStatistics, RequestStatistics, ServerStatistics } from './statistics.js'
