// Checked by the compiler, not run: what the package exports has the types of @types/leveldown, so that it can be passed to whatever is
// declared with them, such as levelup. `leveldown` and `abstract-leveldown` have no types here but those.

import abstract = require('abstract-leveldown')
import theirs = require('leveldown')
import ours = require('terrace-leveldown')

type Bytes = theirs.Bytes
type Methods =
  | 'open'
  | 'close'
  | 'get'
  | 'getMany'
  | 'put'
  | 'del'
  | 'batch'
  | 'clear'
  | 'approximateSize'
  | 'compactRange'
  | 'getProperty'

const called: abstract.AbstractLevelDOWN<Bytes, Bytes> & Pick<theirs.LevelDown, Methods> = ours('./db')
const made: typeof called = new ours('./db')
const functions: Pick<typeof theirs.default, 'destroy' | 'repair'> = ours
const batch: ReturnType<theirs.LevelDown['batch']> = ours('./db').batch()
const iterator: abstract.AbstractIterator<Bytes, Bytes> & Pick<theirs.LevelDownIterator, 'seek'> =
  ours('./db').iterator()

// The only known difference, because of which the constructor as a whole is not theirs either.
// @ts-expect-error: it lacks `binding`, `cache`, `finished` and `fastFuture`, which leveldown kept for itself.
const inside: theirs.LevelDownIterator = ours('./db').iterator()
void [called, made, functions, batch, iterator, inside]
