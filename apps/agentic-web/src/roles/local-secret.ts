import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** On one's own machine the secret is made once and kept in a file that only its owner can read. */
export function localSecret(folder: string): string {
  const path = join(folder, 'secret')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (!existsSync(path)) writeFileSync(path, randomBytes(32).toString('base64'), { mode: 0o600 })
  return readFileSync(path, 'utf8')
}
