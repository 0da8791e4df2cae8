// SseParser — the text of an event stream becomes messages, however it is cut into pieces.
// By the rules of the HTML standard (§9.2.6): lines end with CR, LF or CRLF, a message with an empty line, and a message whose
// empty line never came is none.

export interface SseMessage {
  /** `message` when the server named none. */
  event: string
  data: string
}

export class SseParser {
  /** How soon the server wants its clients to come back, as it said last. */
  retryMs: number | null = null
  /** Of a line whose end has not come: joined once, so that a long line costs no more than its length. */
  #pieces: string[] = []
  /** A line ended with CR: an LF that comes next belongs to it. */
  #isAfterReturn = false
  #event = ''
  #data: string[] = []

  push(text: string): SseMessage[] {
    const messages: SseMessage[] = []
    let begin = this.#isAfterReturn && text.startsWith('\n') ? 1 : 0
    if (text !== '') this.#isAfterReturn = false
    LINE_END.lastIndex = begin
    for (let end = LINE_END.exec(text); end; end = LINE_END.exec(text)) {
      const line = this.#pieces.join('') + text.slice(begin, end.index)
      this.#pieces = []
      begin = LINE_END.lastIndex
      this.#isAfterReturn = end[0] === '\r' && begin === text.length
      const message = this.#line(line)
      if (message) messages.push(message)
    }
    if (begin < text.length) this.#pieces.push(text.slice(begin))
    return messages
  }

  #line(line: string): SseMessage | null {
    if (line === '') return this.#dispatch()
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    // A comment has an empty name. The place in the log stands in the events themselves, so `id` is not needed.
    if (field === 'data') this.#data.push(value)
    else if (field === 'event') this.#event = value
    else if (field === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value)
    return null
  }

  #dispatch(): SseMessage | null {
    const message = this.#data.length > 0 ? { event: this.#event || 'message', data: this.#data.join('\n') } : null
    this.#event = ''
    this.#data = []
    return message
  }
}

const LINE_END = /\r\n|\r|\n/g
