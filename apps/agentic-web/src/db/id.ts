import { randomBytes } from 'node:crypto'

/** 128 random bits: nobody guesses the id of another's session. */
export function newId(): string {
  return randomBytes(16).toString('hex')
}
