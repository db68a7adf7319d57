// For the tests that packages ship. levelup before 2 looks for a leveldown whose version its package.json names: here each version is
// the right one.

const Module = require('node:module')
const { dirname, join } = require('node:path')

const load = Module._load
Module._load = function (request, parent, ...rest) {
  if (!/^leveldown\/package(\.json)?$/.test(request)) return load.call(this, request, parent, ...rest)
  const { devDependencies } = require(join(dirname(parent.filename), '..', 'package.json'))
  return { version: devDependencies.leveldown.replace(/^[~^]/, '') }
}
