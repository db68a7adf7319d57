/** What the runner says, in English. `{name}` is replaced. Every language has the same keys and names. */
export const en = {
  help: `Usage: {program} [COMMAND]

  (none)                 choose an exercise from a menu, or print the list where there is no terminal
  list                   the exercises, and which are solved
  select NAME|NUMBER     show an exercise, and put its starting point into the current directory
  next                   select the next exercise that is not solved
  print                  show the selected exercise again
  run [FILE] [ARGUMENT…] run your program with an example, and show what it does
  verify [FILE]          check your program
  hint                   show one more hint
  solution               show our solution, after you have solved the exercise; --anyway shows it before
  status                 how far you are
  language [CODE]        the languages, or choose one
  reset                  forget what was solved; your files stay
  help, version

Without FILE, run and verify take the file that select has made.

  --seed NUMBER          verify with the random numbers of an earlier run
  --language CODE        this language, for this run alone

Exit codes: 0 done, 1 not accepted, 2 the command is wrong, 3 the workshop itself is wrong.`,
  'unknown-command': "There is no command '{command}'. help lists them.",
  'too-many': "'{argument}' is one argument too many.",
  'not-a-number': '--{option} must be a whole number from 0 to 4294967295.',
  'no-exercise': "There is no exercise '{name}'. list shows them all.",
  'select-first': 'No exercise is selected. select NAME selects one; list shows them all.',
  'name-missing': 'Which one? select NAME or select NUMBER; list shows them all.',
  'starter-made': 'Your starting point: {file}. Then: {program} verify {file}',
  'starter-kept': '{file} already exists, so it was not changed. Remove or rename it to start again.',
  'already-solved': 'You have solved this exercise already.',
  'no-file': '{file} does not exist. select creates it, or name your file: verify FILE.',
  'no-entry': '{file} is a directory without a file named index, such as index.mjs.',
  accepted: 'Accepted: {title} is solved.',
  'next-is': 'Next: {program} next',
  'all-solved': 'You have solved all exercises. Congratulations!',
  refused: 'Not yet.',
  'seed-was': 'Seed: {seed}. --seed {seed} checks with the same random numbers.',
  'program-printed': 'Your program printed:',
  'no-hint': 'This exercise has no hint.',
  'hint-number': 'Hint {number} of {count}',
  'no-more-hints': 'That was the last hint.',
  'solution-later': 'The solution is shown after you have solved the exercise. --anyway shows it now.',
  'status-line': '{solved} of {count} solved. Selected: {selected}.',
  'none-selected': 'none',
  'reset-done': 'Progress is reset. Your files are unchanged.',
  'language-set': 'The language is now {language}.',
  'language-list': 'Languages: {languages}. Current: {language}.',
  'no-language': "There is no language '{language}'. There are: {languages}.",
  'menu-keys': 'Arrow keys or a number, then Enter. q ends.',
  'progress-damaged':
    'Your progress could not be read. It was renamed to {file}; the workshop starts from the beginning.',
  'progress-newer':
    'Your progress was written by a newer version. It was renamed to {file}; update the workshop, then rename the file back.',
  'timed-out':
    'Your program did not end within {seconds} s, so it was stopped. Does it wait for something, or loop forever?',
  'too-much-output': 'Your program printed more than {count} bytes, so it was stopped.',
  'write-refused':
    'Your program tried to write to {path}. It may write only in the directory that it runs in.',
  'child-refused': 'Your program tried to start another program, which this exercise does not allow.',
  'worker-refused': 'Your program tried to start a worker, which this exercise does not allow.',
  'other-refused': 'Your program tried something that this exercise does not allow: {permission}.',
  'ended-with-code': 'Your program ended with exit code {code}.',
  'ended-by-signal': 'Your program was ended by the signal {signal}.',
  'call-threw': 'Your function threw an error.',
  'call-unloadable': 'Your module could not be loaded, or ended by an error.',
  'call-never-settled': 'Your function never finished: nothing was left that it could wait for.',
  'call-exited': 'Your module ended the process, with exit code {code}, before your function had returned.',
  'call-no-function': 'Your module must export a function as {name}. It exports: {found}.',
  'call-not-sendable': 'What your function returned cannot be compared: {message}',
  nothing: 'nothing',
  'check-too-long': 'The check did not come to an end within {seconds} s.',
  'check-failed': 'The check could not talk to your program to the end.',
  'expected-value': 'expected',
  'actual-value': 'yours',
  'difference-at': 'The first difference is in line {line}:',
  'not-equal': 'The result is not the expected one.',
  'returned-value': 'Your function returned:',
  'observed-value': 'What your function did:',
  'files-written': 'It wrote:',
  'workshop-wrong': 'The workshop itself is wrong; you can do nothing about it. Please tell its authors:'
}

/** The texts of one language. */
export type Texts = Readonly<Record<keyof typeof en, string>>
