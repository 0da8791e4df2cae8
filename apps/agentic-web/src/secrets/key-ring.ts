// Seals secrets before they are stored (AES-256-GCM). Each sealed text begins with the id of its key.
//   K1. The first key seals; all of them open. So keys are replaced without a pause: add the new one behind, then put it first, then reseal, then drop the old one.
//   K2. What a secret is, of whom and in which row, is bound to the sealed text: one that is copied into another row cannot be opened there.
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16

/** Sealed with a key that is not here, for another row, or damaged. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable'
}

export class KeyRing {
  readonly #keys = new Map<string, KeyObject>()
  /** The id of the key that seals. */
  readonly current: string

  /** `APP_KEYS`: ids and keys, such as `k2:<32 bytes as Base64>,k1:<…>`. */
  constructor(text: string) {
    for (const part of text.split(',').map((part) => part.trim())) {
      const [, id, base64] = /^([A-Za-z0-9_-]{1,20}):([A-Za-z0-9+/=_-]+)$/.exec(part) ?? []
      const key = Buffer.from(base64 ?? '', 'base64')
      // The message must not repeat what may be a key.
      if (id === undefined || key.length !== KEY_BYTES)
        throw new Error('APP_KEYS must be a list such as k2:<key>,k1:<key>, each key 32 bytes as Base64; the command new-key makes one')
      if (this.#keys.has(id)) throw new Error(`APP_KEYS has two keys with the id ${id}`)
      this.#keys.set(id, createSecretKey(key))
    }
    this.current = [...this.#keys.keys()][0] ?? ''
  }

  seal(secret: string, identity: string): string {
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key(this.current), iv).setAAD(Buffer.from(identity))
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return `${this.current}.${Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64')}`
  }

  open(sealed: string, identity: string): string {
    const dot = sealed.indexOf('.')
    const key = this.#key(sealed.slice(0, dot))
    const bytes = Buffer.from(sealed.slice(dot + 1), 'base64')
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(identity))
        .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8')
    } catch {
      throw new SecretUnreadable('a stored secret is damaged, or belongs to another row')
    }
  }

  #key(id: string): KeyObject {
    const key = this.#keys.get(id)
    if (!key)
      throw new SecretUnreadable(`a stored secret is sealed with the key ${JSON.stringify(id.slice(0, 20))}, which APP_KEYS does not have`)
    return key
  }
}

/** A new key for APP_KEYS. Its id has the time, so that nobody has to think of one. */
export function newKey(): string {
  const id = new Date().toISOString().slice(0, 19).replace(/\D/g, '')
  return `k${id}:${randomBytes(KEY_BYTES).toString('base64')}`
}

/** The parts cannot run into each other, whatever they contain. */
export function identityOf(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts)
}
