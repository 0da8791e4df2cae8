// Reads Server-Sent Events and gathers them into entries of the log: events without an `id:` belong to the next one that has it. What was cut
// off in the middle of an entry is forgotten, because the server sends the whole entry again.
import type { AgentEvent } from '../../../src/wire/event.ts'
import type { LogEntry } from '../state/run-log.ts'

export class SseEntries {
  #rest = ''
  #events: AgentEvent[] = []

  /** The entries that are complete with this text. */
  read(text: string): LogEntry[] {
    const messages = (this.#rest + text).split('\n\n')
    this.#rest = messages.pop() ?? ''
    return messages.flatMap((message) => this.#entryOf(message))
  }

  #entryOf(message: string): LogEntry[] {
    const { event, data, id } = fieldsOf(message)
    if (event === undefined || data === undefined) return []
    this.#events.push({ type: event, ...JSON.parse(data) } as AgentEvent)
    if (id === undefined) return []
    const entry = { seq: Number(id), events: this.#events }
    this.#events = []
    return [entry]
  }
}

function fieldsOf(message: string): Partial<Record<'event' | 'data' | 'id', string>> {
  const fields = message.split('\n').map((line) => /^(event|data|id): ?(.*)$/.exec(line))
  return Object.fromEntries(fields.flatMap((match) => (match ? [[match[1], match[2]]] : [])))
}
