/** The learner's file of an exercise. */

import { constants, copyFileSync, cpSync, mkdirSync, statSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { type Exercise, partOf } from './workshop.js'

/** The name that the starting point of an exercise gets: that of the exercise, with the starter's extension. */
export function learnerFile(exercise: Exercise): string {
  const starter = partOf(exercise, 'starter')
  return isDirectory(starter) ? exercise.name : exercise.name + extname(starter)
}

/** Puts the starting point into a directory. Never changes existing files; returns whether it was put there. */
export function placeStarter(exercise: Exercise, directory: string): boolean {
  const starter = partOf(exercise, 'starter')
  const target = resolve(directory, learnerFile(exercise))
  try {
    copyNew(starter, target)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Fails if the target exists, even if another process makes it at the same moment. */
function copyNew(source: string, target: string): void {
  if (!isDirectory(source)) {
    copyFileSync(source, target, constants.COPYFILE_EXCL)
    return
  }
  mkdirSync(target)
  cpSync(source, target, { recursive: true })
}

function isDirectory(path: string): boolean {
  return statSync(path).isDirectory()
}
