// Passwords are stored as scrypt hashes. The parameters are part of the hash, so they can be raised later and old hashes can still be checked.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/** One of OWASP's recommended sets: 32 MiB of memory, three passes. */
const COST = { N: 2 ** 15, r: 8, p: 3 }
const SALT_BYTES = 16
const HASH_BYTES = 32

export const PASSWORD_LENGTH_MIN = 10
/** A longer one would only make the server work. */
export const PASSWORD_LENGTH_MAX = 200

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await derive(password, salt, COST)
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64'), hash.toString('base64')].join('$')
}

/** Without a stored hash it takes as long and is false: how long an answer takes does not tell whether there is such a user. */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const [, N, r, p, salt, hash] = (stored ?? NOBODY).split('$')
  const expected = Buffer.from(hash ?? '', 'base64')
  const actual = await derive(password, Buffer.from(salt ?? '', 'base64'), { N: Number(N), r: Number(r), p: Number(p) })
  return stored !== null && expected.length === actual.length && timingSafeEqual(expected, actual)
}

const NOBODY = ['scrypt', COST.N, COST.r, COST.p, Buffer.alloc(SALT_BYTES).toString('base64'), ''].join('$')

function derive(password: string, salt: Buffer, cost: typeof COST): Promise<Buffer> {
  const options = { ...cost, maxmem: 256 * cost.N * cost.r }
  // The same characters can be typed as different code points.
  const text = password.normalize('NFKC')
  return new Promise((resolve, reject) => {
    scrypt(text, salt, HASH_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)))
  })
}
