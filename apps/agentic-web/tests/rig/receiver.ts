// Receives what the tool `notify` sends, and may keep the sender waiting.
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Listening, listen } from '../../dist/roles/listen.js'

export class Receiver {
  readonly #listening: Listening
  /** By the key of the call: how often it came. */
  readonly counts = new Map<string, number>()
  readonly texts: string[] = []
  /** Answers are held back until this resolves. */
  hold: Promise<void> = Promise.resolve()

  private constructor(listening: Listening) {
    this.#listening = listening
  }

  static async open(): Promise<Receiver> {
    const server = createServer()
    const receiver = new Receiver(await listen(server, { port: 0, host: '127.0.0.1' }))
    server.on('request', async (req, res) => {
      const key = String(req.headers['idempotency-key'])
      receiver.counts.set(key, (receiver.counts.get(key) ?? 0) + 1)
      receiver.texts.push((JSON.parse(await text(req)) as { text: string }).text)
      await receiver.hold
      res.end()
    })
    return receiver
  }

  get url(): string {
    return this.#listening.url
  }

  close(): Promise<void> {
    return this.#listening.close()
  }
}
