import { describe, expect, test } from 'vitest'
import { DurablyError } from '../../model/errors.ts'
import { TurnBudget } from '../../model/turn-budget.ts'
import type { Created, NewRun, RunStore } from '../../store/runs.ts'
import { virtualEnv } from '../../testing/virtual-env.ts'
import { ChildQueue } from './child-queue.ts'

const child = (id: string, payload = '') => ({ id, payload }) as NewRun

/** A queue before a store that answers with the ids, or rejects those that are named so. */
function setup(reject: (ids: string[]) => DurablyError | null = () => null) {
  const env = virtualEnv()
  const groups: string[][] = []
  const create: RunStore['create'] = async (runs) => {
    const ids = runs.map(({ id }) => id)
    groups.push(ids)
    const error = reject(ids)
    if (error) throw error
    return runs.map(({ id }) => ({ run: { id }, created: true }) as Created)
  }
  const queue = new ChildQueue({ runs: { create } as RunStore, env, turn: new TurnBudget(env), leaseMs: 1000, report: () => {} })
  const outcomes: string[] = []
  const ask = (id: string, payload?: string) => {
    const told = (what: string) => void outcomes.push(`${id} ${what}`)
    queue.create(child(id, payload)).then(
      (created) => told(created?.run.id ?? 'away'),
      (error: DurablyError) => told(error.code),
    )
  }
  return { env, groups, outcomes, ask }
}

describe('the queue of children', () => {
  test('what is asked for in the same turn goes together; what comes later goes after it (K1)', async () => {
    const { env, groups, ask, outcomes } = setup()
    ask('a')
    ask('b')
    await Promise.resolve()
    ask('c')
    await env.advance(1)
    ask('d')
    await env.advance(1)
    expect(groups).toEqual([['a', 'b', 'c'], ['d']])
    expect(outcomes).toEqual(['a a', 'b b', 'c c', 'd d'])
  })

  test('a group is bounded by its number and by its size, and a huge one still goes (K1)', async () => {
    const { env, groups, ask } = setup()
    const half = 'x'.repeat(600_000)
    for (const id of ['a', 'b']) ask(id, half)
    ask('c', half + half)
    for (let i = 0; i < 250; i++) ask(`${i}`)
    await env.advance(1)
    expect(groups.map(({ length }) => length)).toEqual([1, 1, 1, 100, 100, 50])
  })

  test('data that the store rejects fails alone (K2)', async () => {
    const { env, ask, outcomes } = setup((ids) => (ids.includes('bad') ? new DurablyError('store_rejected', 'bad') : null))
    for (const id of ['a', 'bad', 'c']) ask(id)
    await env.advance(1)
    expect(outcomes.sort()).toEqual(['a a', 'bad store_rejected', 'c c'])
  })

  test('a store that is away is asked again, for a whole lease (K2)', async () => {
    let away = true
    const { env, ask, outcomes } = setup(() => (away ? new DurablyError('store_unavailable', 'away') : null))
    ask('a')
    await env.advance(500)
    expect(outcomes).toEqual([])
    await env.advance(5000)
    expect(outcomes).toEqual(['a away'])
    away = false
    ask('b')
    await env.advance(500)
    expect(outcomes).toEqual(['a away', 'b b'])
  })
})
