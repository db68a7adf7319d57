/**
 * Refuses a Node that cannot run the package, before it comes to syntax that it does not know. From 16 on to the versions that are
 * tested, which package.json names, nothing is known to fail.
 */

const major = Number(process.versions.node.split('.')[0])
if (major < 16) throw new Error(`terrace needs Node.js 20.19 or newer. This is ${process.version}.`)

export {}
