// Terminals, which `script` of util-linux makes.

import { spawnSync } from 'node:child_process'

const { stdout } = spawnSync('script', ['--version'], { encoding: 'utf8' })

/** Why tests on a terminal are left out, or `false`: that `script` is missing. The one of macOS has other options. */
export const skipWithoutTerminal =
  !/util-linux/.test(stdout ?? '') && '`script` of util-linux is missing, which makes a terminal'
