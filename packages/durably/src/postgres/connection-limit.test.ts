import { describe, expect, test } from 'vitest'
import { rejects } from '../testing/assert.ts'
import { ConnectionLimit } from './connection-limit.ts'

/** The callers that got a connection, in that order; each holds it until it leaves. */
function setup(max: number, waitMs = 60_000) {
  const limit = new ConnectionLimit(max, waitMs)
  const inside: string[] = []
  const releases = new Map<string, () => void>()
  const ask = async (name: string) => {
    const release = await limit.acquire(name.startsWith('urgent'))
    inside.push(name)
    releases.set(name, release)
  }
  return { limit, inside, ask, leave: (name: string) => releases.get(name)?.() }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('the limit of connections', () => {
  test('others hold one connection less than there are, and wait in order; the last one is for what is urgent (C2)', async () => {
    const { inside, ask, leave } = setup(3)
    for (const name of ['a', 'b', 'c', 'd', 'urgent 1', 'urgent 2']) void ask(name)
    await turn()
    expect(inside).toEqual(['a', 'b', 'urgent 1'])
    leave('b')
    await turn()
    expect(inside.slice(3)).toEqual(['urgent 2'])
    leave('urgent 1')
    await turn()
    expect(inside.slice(4)).toEqual(['c'])
    leave('a')
    await turn()
    expect(inside.slice(5)).toEqual(['d'])
  })

  test('with one connection what is urgent is first in the queue (C1)', async () => {
    const { inside, ask, leave } = setup(1)
    for (const name of ['a', 'b', 'c', 'urgent']) void ask(name)
    for (const name of ['a', 'urgent', 'b', 'c']) {
      await turn()
      expect(inside.at(-1)).toBe(name)
      leave(name)
    }
  })

  test('leaving twice frees one place', async () => {
    const { inside, ask, leave } = setup(2)
    for (const name of ['a', 'b', 'c']) void ask(name)
    await turn()
    leave('a')
    leave('a')
    await turn()
    expect(inside).toEqual(['a', 'b'])
    // Nobody is left waiting: that would be an error a minute later, in the middle of another test.
    leave('b')
    await turn()
    expect(inside).toEqual(['a', 'b', 'c'])
  })

  test('a call that waits too long gets an error, and leaves no gap in the queue (C3)', async () => {
    const { limit, inside, ask, leave } = setup(2, 20)
    await ask('a')
    const error = await rejects(limit.acquire(false), 'store_unavailable', 'a connection that does not come')
    expect(error.message).toContain('1 of 2 are in use')
    const next = ask('b')
    leave('a')
    await next
    expect(inside).toEqual(['a', 'b'])
  })
})
