import { describe, expect, test } from 'vitest'
import { virtualEnv } from '../testing/virtual-env.ts'
import { readMessage } from './change-message.ts'
import { Sender } from './sender.ts'

const WORK = { type: 'work' } as const
const ANYTHING = { type: 'anything' } as const

function setup() {
  const env = virtualEnv()
  return { env, sender: new Sender(env, 'me') }
}

/** A connection that takes messages, until it is broken or held up. */
function line() {
  const taken: unknown[] = []
  const closedFor: unknown[] = []
  let answer: () => Promise<void> = async () => {}
  return {
    taken,
    closedFor,
    answerBy: (next: () => Promise<void>) => {
      answer = next
    },
    async send(payload: string) {
      taken.push(readMessage(payload)?.changes)
      await answer()
    },
    async close(_: unknown, why?: Error) {
      closedFor.push(why)
    },
  }
}

describe('the sender', () => {
  test('E1: sends the first change at once, and what gathers in the gap as one message', async () => {
    const { env, sender } = setup()
    const connection = line()
    sender.use(connection)
    sender.add(WORK)
    await env.idle()
    expect(connection.taken).toEqual([[WORK]])
    for (let ms = 0; ms < 49; ms++) {
      sender.add(WORK)
      sender.add({ type: 'cancel', runId: 'r' })
      await env.advance(1)
    }
    expect(connection.taken).toHaveLength(1)
    await env.advance(1)
    expect(connection.taken.slice(1)).toEqual([[WORK, { type: 'cancel', runId: 'r' }]])
  })

  test('E1: waits for nothing when there is nothing to send', async () => {
    const { env, sender } = setup()
    sender.use(line())
    sender.add(WORK)
    await env.idle()
    expect(env.nextInMs()).toBe(null)
    await env.advance(1000)
    sender.add(WORK)
    expect(env.nextInMs()).toBe(null)
  })

  test('E1: has one message under way', async () => {
    const { env, sender } = setup()
    const connection = line()
    let arrive: () => void = () => {}
    connection.answerBy(() => new Promise((resolve) => (arrive = resolve)))
    sender.use(connection)
    sender.add(WORK)
    await env.idle()
    sender.add(WORK)
    const flushed = sender.flush()
    await env.advance(1000)
    expect(connection.taken).toHaveLength(1)
    arrive()
    await env.idle()
    expect(connection.taken).toHaveLength(2)
    arrive()
    await flushed
  })

  test('E2: keeps the changes that come without a connection, up to one message', async () => {
    const { env, sender } = setup()
    const first = line()
    sender.add(WORK)
    await env.advance(1000)
    sender.use(first)
    await env.idle()
    expect(first.taken).toEqual([[WORK]])
    sender.use(null)
    for (let i = 0; i < 1000; i++) sender.add({ type: 'events', runId: `a rather long name of a run ${i}` })
    const second = line()
    sender.use(second)
    await env.advance(1000)
    expect(second.taken).toEqual([[ANYTHING]])
  })

  test('E2, E3: a message that may be lost is followed by "anything", over the next connection', async () => {
    const { env, sender } = setup()
    const broken = line()
    const why = new Error('broken')
    broken.answerBy(() => Promise.reject(why))
    sender.use(broken)
    sender.add(WORK)
    await env.advance(1000)
    sender.add(WORK)
    await env.advance(1000)
    expect(broken).toMatchObject({ taken: [[WORK]], closedFor: [why] })
    const next = line()
    sender.use(next)
    await env.advance(1000)
    expect(next.taken).toEqual([[ANYTHING]])
  })
})
