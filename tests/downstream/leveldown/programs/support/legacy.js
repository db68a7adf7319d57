// Gives leveldown 6.1.1 and memdown 6.1.1 the ranges by `start` and `end` that leveldown had before 5, so that they can be compared
// with those of Terrace. It is loaded for the originals alone.

for (const name of ['leveldown', 'leveldown-basho', 'leveldown-hyper', 'memdown']) {
  const { prototype } = require(name)
  const { iterator } = prototype
  prototype.iterator = function (options) {
    if (!options || !('start' in options || 'end' in options)) return iterator.call(this, options)
    const { start, end, ...others } = options
    const [low, high] = options.reverse ? [end, start] : [start, end]
    const isGiven = (bound) => bound !== undefined && bound !== null && bound.length !== 0
    if (isGiven(low) && others.gt === undefined && others.gte === undefined) others.gte = low
    if (isGiven(high) && others.lt === undefined && others.lte === undefined) others.lte = high
    return iterator.call(this, others)
  }
}
