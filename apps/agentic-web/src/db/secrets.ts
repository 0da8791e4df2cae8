// Keys of model providers, encrypted before they are stored (AES-256-GCM). What a key is for is bound to its text, so that a text which
// is copied to another user or another field cannot be read.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

const IV_BYTES = 12
const TAG_BYTES = 16

export class Secrets {
  readonly #key: Buffer

  /** Any text; at least 16 characters, so that it cannot be guessed. */
  constructor(passphrase: string) {
    if (passphrase.length < 16) throw new Error('AGENTIC_SECRET must have at least 16 characters: it encrypts the keys of model providers')
    this.#key = createHash('sha256').update(passphrase).digest()
  }

  encrypt(secret: string, purpose: string): string {
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(Buffer.from(purpose))
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64')
  }

  /** Throws if it was encrypted with another passphrase or for another purpose. */
  decrypt(encrypted: string, purpose: string): string {
    const bytes = Buffer.from(encrypted, 'base64')
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, IV_BYTES))
      .setAAD(Buffer.from(purpose))
      .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8')
  }
}
