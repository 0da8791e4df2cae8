// SseParser — parses the text of an event stream into messages, however the text is cut into pieces. Why it is our own: ADR 0011.
// It follows the HTML standard (§9.2.6): lines end with CR, LF or CRLF, a message ends with an empty line, and a message at the end of
// the stream without its empty line is dropped.

export interface SseMessage {
  /** `message` when the server named none. */
  event: string
  data: string
}

export class SseParser {
  /** The reconnection time that the server sent last; 0 before it has sent one. */
  retryMs = 0
  /** The pieces of a line that has not ended yet. They are joined once, so that a long line takes linear time. */
  #pieces: string[] = []
  /** The last piece ended with CR: if the next one begins with LF, both are one line end. */
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
    // A comment has an empty field name. `id` is ignored: the events carry their own sequence.
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
