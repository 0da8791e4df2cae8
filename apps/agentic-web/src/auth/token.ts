// Random texts that prove something: a session cookie, a link that works once. The database has their hashes only, so whoever reads it cannot use them.
import { createHash, randomBytes } from 'node:crypto'

export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** A fast hash is enough: nobody can guess 256 random bits. */
export function hashOfToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
