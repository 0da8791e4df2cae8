// Takes secrets out of whatever a run leaves behind. Chunks, results and failures are durable, and a model's server may repeat the key that it got.
//   R1. It knows the exact secrets that this execution has resolved, and nothing else: there is no guessing by patterns.
//   R2. A secret that comes in pieces is found: what may be the beginning of one is held back until more has come.
import { inspect } from 'node:util'
import { AgentError } from '../agent-error.ts'

const INSTEAD = '[redacted]'

export class Redactor {
  /** The longest first: one may be part of another. */
  #secrets: string[] = []

  learn(secret: string): void {
    if (secret === '' || this.#secrets.includes(secret)) return
    this.#secrets = [...this.#secrets, secret].sort((a, b) => b.length - a.length)
  }

  text(text: string): string {
    return this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, INSTEAD), text)
  }

  /** The same value, if there is no secret in it. */
  value<T>(value: T): T {
    return this.#secrets.length === 0 ? value : (this.#deep(value) as T)
  }

  /** Base64 of any bytes. */
  base64(content: string): string {
    if (this.#secrets.length === 0) return content
    const bytes = Buffer.from(content, 'base64').toString('latin1')
    const secrets = this.#secrets.map((secret) => Buffer.from(secret).toString('latin1'))
    const clean = secrets.reduce((rest, secret) => rest.replaceAll(secret, INSTEAD), bytes)
    return clean === bytes ? content : Buffer.from(clean, 'latin1').toString('base64')
  }

  /** The same error, if there is no secret anywhere in it: the engine has errors of its own, which must stay what they are. */
  error(error: unknown): unknown {
    const shown = inspect(error, { depth: 20, maxStringLength: null, maxArrayLength: null, showHidden: true })
    if (this.text(shown) === shown) return error
    const clean =
      error instanceof AgentError ? new AgentError(error.code, this.text(error.message)) : new Error(this.text(messageOf(error)))
    clean.stack = `${clean.name}: ${clean.message}`
    return clean
  }

  /** Nothing with a secret leaves `work`, neither as its result nor as its error. */
  async guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return this.value(await work())
    } catch (error) {
      throw this.error(error)
    }
  }

  /** For a text that comes in pieces. */
  pieces(): RedactedPieces {
    return new RedactedPieces(this, () => this.#secrets)
  }

  #deep(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value)
    if (Array.isArray(value)) return value.map((item) => this.#deep(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.text(key), this.#deep(item)]))
  }
}

export class RedactedPieces {
  readonly #redactor: Redactor
  readonly #secrets: () => readonly string[]
  #held = ''

  constructor(redactor: Redactor, secrets: () => readonly string[]) {
    this.#redactor = redactor
    this.#secrets = secrets
  }

  /** What of it can be shown already. */
  push(piece: string): string {
    const text = this.#held + piece
    const end = this.#shownUpTo(text)
    this.#held = text.slice(end)
    return this.#redactor.text(text.slice(0, end))
  }

  /** No more comes: what was held back is no secret, or a whole one. */
  end(): string {
    const rest = this.#redactor.text(this.#held)
    this.#held = ''
    return rest
  }

  /** Before everything that may go on as a secret, and not in the middle of one that is there. */
  #shownUpTo(text: string): number {
    const secrets = this.#secrets()
    let end = text.length
    for (const secret of secrets)
      for (let length = Math.min(secret.length - 1, text.length); length > 0; length--)
        if (secret.startsWith(text.slice(-length))) {
          end = Math.min(end, text.length - length)
          break
        }
    const ranges = secrets.flatMap((secret) => rangesOf(text, secret))
    for (let cut = ranges.find(cuts(end)); cut; cut = ranges.find(cuts(end))) end = cut[0]
    return end
  }
}

type Range = readonly [from: number, to: number]

function cuts(at: number): (range: Range) => boolean {
  return ([from, to]) => from < at && at < to
}

function rangesOf(text: string, secret: string): Range[] {
  const ranges: Range[] = []
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) ranges.push([at, at + secret.length])
  return ranges
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
