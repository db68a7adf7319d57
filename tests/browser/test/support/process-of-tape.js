// What tape wants of Node's `process` in a browser.

export const process = {
  env: {},
  cwd: () => '/',
  nextTick: (work, ...args) => queueMicrotask(() => work(...args))
}
