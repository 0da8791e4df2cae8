#!/usr/bin/env node
import { main } from './main.ts'
import { systemIo } from './output/io.ts'

process.exitCode = await main(process.argv.slice(2), systemIo())
