// index.mjs does not import
import { readdir } from 'node:fs/promises'

const names = await readdir(process.argv[2])
for (const name of names.sort()) if (name.endsWith(`.${process.argv[3]}`)) console.log(name)
