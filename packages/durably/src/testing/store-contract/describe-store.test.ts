import { describe, expect, it, vi } from 'vitest'
import { memoryStore } from '../../memory.ts'
import { virtualEnv } from '../virtual-env.ts'
import { storeContract } from './chapters.ts'
import { describeStore, type Skip } from './describe-store.ts'
import { transactions } from './transactions.ts'

const names = storeContract.flatMap(({ cases }) => cases.map(({ name }) => name))
const anyName = names[0] ?? ''

/** A test runner that only records its calls. */
function notebook() {
  const tests = new Map<string, () => Promise<void>>()
  const skipped: string[] = []
  const it = Object.assign((name: string, run: () => Promise<void>) => void tests.set(name, run), {
    skip: (name: string) => void skipped.push(name),
  })
  return { runner: { describe: (_: string, define: () => void) => define(), it }, tests, skipped }
}

function setup() {
  const env = virtualEnv()
  const close = vi.fn()
  return { world: { store: memoryStore({ env }), env, close }, close }
}

function described(skip: readonly Skip[] = [], world = setup().world) {
  const { runner, ...recorded } = notebook()
  describeStore(runner, 'a store', async () => world, { skip })
  return recorded
}

describe('describeStore', () => {
  it('defines every case of the contract once', () => {
    const { tests, skipped } = described()
    expect([...tests.keys()]).toEqual(names)
    expect(skipped).toEqual([])
  })

  it('skips what it is asked to skip, and says why', () => {
    const { tests, skipped } = described([{ reason: 'its clock cannot be set', tests: [anyName] }])
    expect(tests.has(anyName)).toBe(false)
    expect(skipped).toEqual([`${anyName} (skipped: its clock cannot be set)`])
  })

  it('skips a whole chapter, and refuses one that does not exist', () => {
    const { skipped } = described([{ reason: 'there is no database', chapter: 'transactions' }])
    expect(skipped).toEqual(transactions.cases.map(({ name }) => `${name} (skipped: there is no database)`))
    expect(() => described([{ reason: 'typo', chapter: 'no such chapter' }])).toThrow('the store contract has no chapter "no such chapter"')
  })

  it('refuses to skip a case that does not exist, or without a reason', () => {
    expect(() => described([{ reason: 'typo', tests: ['no such case'] }])).toThrow('the store contract has no case "no such case"')
    expect(() => described([{ reason: ' ', tests: [anyName] }])).toThrow('needs a reason')
    // @ts-expect-error: a reason is part of the type.
    expect(() => described([{ tests: [anyName] }])).toThrow()
  })

  it('closes the world after a case, also after one that failed', async () => {
    const { world, close } = setup()
    const test = described([], world).tests.get(anyName)
    await test?.()
    expect(close).toHaveBeenCalledTimes(1)
    world.store.runs.get = async () => null
    await expect(test?.()).rejects.toThrow('exists')
    expect(close).toHaveBeenCalledTimes(2)
  })

  it('finds a store incoherent that lost an event', async () => {
    const { world } = setup()
    const { list } = world.store.events
    world.store.events.list = async (id) => (await list(id)).slice(1)
    await expect(described([], world).tests.get(anyName)?.()).rejects.toThrow('I4')
  })
})
