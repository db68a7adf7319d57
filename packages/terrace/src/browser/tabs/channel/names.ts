/** The names of locks and channels that tabs and workers of a site agree on. */

/** Held by the page that leads: its worker has opened the database, or is about to. */
export const leaderLock = (location: string): string => `terrace:opfs:${location}`

/**
 * Also held by the page that leads, but taken by its script: a page that is frozen when it is granted the leader's lock holds only
 * that one.
 */
export const leadingLock = (location: string): string => `terrace:leads:${location}`

/** Held by the page that leads next: it has a worker ready, and waits for the leader's lock. */
export const nextLock = (location: string): string => `terrace:next:${location}`

/** Held by the worker of a leader for as long as it runs. */
export const epochLock = (location: string, epoch: number): string => `terrace:epoch:${epoch}:${location}`

/** Held by a tab for as long as it takes part. */
export const tabLock = (tab: string): string => `terrace:tab:${tab}`

/** Held by the worker of a database that only one page has open, for as long as it runs. */
export const ownLock = (worker: string): string => `terrace:own:${worker}`

/** The broadcast channel on which tabs and leaders find each other. */
export const controlChannel = (location: string): string => `terrace:opfs:${location}`

/** The broadcast channel of a tab and a leader that cannot get a port to each other. */
export const linkChannel = (link: string): string => `terrace:link:${link}`
