/** Explanations that several checks give. */

/** For `failures` of `outputs`: a text was asked for what only a text can do, but the file was read as bytes. */
export const BYTES_INSTEAD_OF_TEXT = [
  /\.(split|match|matchAll|trim|replaceAll) is not a function/,
  {
    en: "Without an encoding, a file is read as bytes (a Buffer). With 'utf8' as the second argument you get a text.",
    de: "Ohne Kodierung wird eine Datei als Bytes gelesen (ein Buffer). Mit 'utf8' als zweitem Argument bekommst du einen Text."
  }
]

/** For `failures` of `outputs`: the name of a file stands in the program, instead of being taken from the arguments. */
export const FILE_NOT_FOUND = [
  /ENOENT/,
  {
    en: 'Your program opens a file that is not there. The name of the file is the first argument, process.argv[2].',
    de: 'Dein Programm öffnet eine Datei, die es nicht gibt. Der Name der Datei ist das erste Argument, process.argv[2].'
  }
]

/** A program that prints a promise, or what it finds of one, instead of a value: what its output matches, and the message. */
export const PROMISE_PRINTED = [
  /Promise \{|\[object Promise\]|^undefined$/m,
  {
    en: 'Your program does not wait for a value that comes later. Is an await missing?',
    de: 'Dein Programm wartet nicht auf einen Wert, der später kommt. Fehlt ein await?'
  }
]
