/** A clock that stands still until it is moved: `clock.now` for ttl(), `clock.time` in milliseconds since 1970. */
export function stoppedClock(time = 1_700_000_000_000) {
  const clock = { time, now: () => clock.time }
  return clock
}
