import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newKey } from '../secrets/key-ring.ts'

/** On one's own machine a key is made once, and kept in a file that only its owner can read. */
export function localKeys(folder: string): string {
  const path = join(folder, 'keys')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (!existsSync(path)) writeFileSync(path, newKey(), { mode: 0o600 })
  return readFileSync(path, 'utf8')
}
