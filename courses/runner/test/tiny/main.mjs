#!/usr/bin/env node
import { runWorkshop } from '../../dist/index.mjs'

await runWorkshop(new URL('./', import.meta.url))
