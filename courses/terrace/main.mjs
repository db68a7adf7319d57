#!/usr/bin/env node
import { runWorkshop } from 'terrace-workshop-runner'

await runWorkshop(new URL('./', import.meta.url))
