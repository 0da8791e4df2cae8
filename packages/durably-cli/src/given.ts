// Given — what the user typed, by the names that a command has for it.
import { UsageError } from './exit-code.ts'

export class Given {
  readonly #args: ReadonlyMap<string, readonly string[]>
  readonly #options: ReadonlyMap<string, readonly string[]>

  constructor(args: ReadonlyMap<string, readonly string[]>, options: ReadonlyMap<string, readonly string[]>) {
    this.#args = args
    this.#options = options
  }

  /** An argument that must be there. */
  arg(name: string): string {
    const value = this.args(name)[0]
    if (value === undefined) throw new UsageError(`<${name}> is missing`)
    return value
  }

  args(name: string): readonly string[] {
    return this.#args.get(name) ?? []
  }

  has(option: string): boolean {
    return this.#options.has(option)
  }

  text(option: string): string | undefined {
    return this.#options.get(option)?.at(-1)
  }

  texts(option: string): readonly string[] {
    return this.#options.get(option) ?? []
  }

  wholeNumber(option: string, { min = 1, max = Number.MAX_SAFE_INTEGER } = {}): number | undefined {
    const text = this.text(option)
    if (text === undefined) return undefined
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= min && value <= max) return value
    const limit = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
    throw new UsageError(`--${option} must be a whole number ${limit}, got ${JSON.stringify(text)}`)
  }
}
