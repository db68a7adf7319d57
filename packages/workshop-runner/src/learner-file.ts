/** The learner's file of an exercise. */

import { cpSync, existsSync, statSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { type Exercise, partOf } from './workshop.js'

/** The name that the starting point of an exercise gets: that of the exercise, with the starter's extension. */
export function learnerFile(exercise: Exercise): string {
  const starter = partOf(exercise, 'starter')
  return statSync(starter).isDirectory() ? exercise.name : exercise.name + extname(starter)
}

/** Puts the starting point into a directory. What is there already is never changed; returns whether it was put there. */
export function placeStarter(exercise: Exercise, directory: string): boolean {
  const target = resolve(directory, learnerFile(exercise))
  if (existsSync(target)) return false
  cpSync(partOf(exercise, 'starter'), target, { recursive: true, force: false, errorOnExist: true })
  return true
}
