// Reads Server-Sent Events as they come: a parser for tests, and what a stream said.
import { wireCodec } from '../../src/model/codec.ts'

export interface Told {
  event: string
  id: string | undefined
  /** As it was sent. */
  text: string
  data: unknown
}

const wire = wireCodec()

function parse(block: string): Told | null {
  const told: Told = { event: 'message', id: undefined, text: '', data: undefined }
  for (const line of block.split('\n')) {
    // With `s`: a text may hold what only JavaScript takes for the end of a line.
    const [, field, value = ''] = /^([^:]*): ?(.*)$/s.exec(line) ?? []
    if (field === 'event') told.event = value
    if (field === 'id') told.id = value
    if (field === 'data') told.text += value
  }
  if (told.text === '') return null
  told.data = wire.decode(told.text)
  return told
}

/** What was told so far, how much of it came in, and what came that was no event. */
export class Heard {
  readonly told: Told[] = []
  readonly asides: string[] = []
  bytes = 0
  ended = false
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()
  #rest = ''

  constructor(response: Response) {
    if (!response.body) throw new Error(`no body: ${response.status}`)
    this.#reader = response.body.getReader()
  }

  /** Takes one chunk; false at the end. */
  async take(): Promise<boolean> {
    const { done, value } = await this.#reader.read()
    if (done) {
      this.ended = true
      return false
    }
    this.bytes += value.byteLength
    const blocks = (this.#rest + this.#decoder.decode(value, { stream: true })).split('\n\n')
    this.#rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const told = parse(block)
      if (told) this.told.push(told)
      else this.asides.push(block)
    }
    return true
  }

  /** Takes what comes until `is` so, or the end. */
  async until(is: (heard: this) => boolean): Promise<this> {
    while (!is(this) && (await this.take()));
    return this
  }

  all(): Promise<this> {
    return this.until(() => false)
  }

  leave(): Promise<void> {
    return this.#reader.cancel()
  }

  get names(): string[] {
    return this.told.map(({ event }) => event)
  }
}
