// JSON from the command line: the text itself, a file after `@`, or standard input for `-`.
import { readFileSync } from 'node:fs'
import { UsageError } from './exit-code.ts'
import type { Io } from './output/io.ts'

export async function readValue(option: string, text: string, io: Pick<Io, 'input'>): Promise<unknown> {
  const source = text === '-' ? await io.input() : text.startsWith('@') ? readText(option, text.slice(1)) : text
  return parseValue(option, source)
}

function parseValue(option: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const hint = /^[\w -]+$/.test(text) ? `; a text needs quotes of its own: '${JSON.stringify(text)}'` : ''
    throw new UsageError(`${option} is not JSON (${(error as Error).message})${hint}`)
  }
}

function readText(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${option}: the file ${JSON.stringify(path)} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}
