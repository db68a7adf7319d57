// Tests collect garbage by the function that Node has with --expose-gc. Bun's goes by another name.
globalThis.gc = () => Bun.gc(true)
