/** How long anything may take: more is a hang. abstract-level's suite takes a minute or two on a machine that does other things as well. */
export const HANG_MS = 10 * 60_000
