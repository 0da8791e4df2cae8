// RawStream — an event stream read without any of our code: what came over the wire, byte for byte, over as many connections as it took.
import { setTimeout as sleep } from 'node:timers/promises'

export interface RawEvent {
  id: number
  data: string
}

export interface RawStream {
  events: RawEvent[]
  connections: number
  /** The data of the closing event; empty if the stream was cut before it. */
  done: string
}

export async function readRaw(url: string): Promise<RawStream> {
  const events: RawEvent[] = []
  for (let connections = 1; ; connections++) {
    const done = await readOnce(url, events)
    if (done !== null) return { events, connections, done }
    await sleep(10)
  }
}

/** The closing event; `null` when the connection broke before it. */
async function readOnce(url: string, events: RawEvent[]): Promise<string | null> {
  const last = events.at(-1)?.id
  let text = ''
  try {
    const response = await fetch(url, { headers: last === undefined ? {} : { 'last-event-id': String(last) } })
    if (response.status === 204) return ''
    if (response.status !== 200) return null
    const decoder = new TextDecoder()
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const fields = new Map(block.split('\n').map((line) => splitField(line)))
        if (fields.get('event') === 'done') return fields.get('data') ?? ''
        const id = fields.get('id')
        if (id !== undefined) events.push({ id: Number(id), data: fields.get('data') ?? '' })
      }
    }
  } catch {
    // The stream was cut; the next connection continues.
  }
  return null
}

function splitField(line: string): [string, string] {
  const colon = line.indexOf(': ')
  return [line.slice(0, colon), line.slice(colon + 2)]
}
