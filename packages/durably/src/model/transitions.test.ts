import { describe, expect, test } from 'vitest'
import { EVENT_TYPES, type EventType } from './event.ts'
import { isTerminal, RUN_STATUSES, type RunStatus } from './run.ts'
import { TRANSITION_RULES } from './transition-rules.ts'
import { canMove, type Move, TRANSITIONS, type Transition } from './transitions.ts'

const MOVES = Object.entries(TRANSITIONS) as [Move, Transition][]

/** They change what else is known of a run, not its status. */
const MARKS: Move[] = ['confirm', 'assign', 'orphan']

function movesFrom(status: RunStatus): Move[] {
  return MOVES.filter(([move]) => canMove(move, status)).map(([move]) => move)
}

describe('the table', () => {
  test.each(MOVES)('%s starts and ends at a status, says its guard and its event', (name, move) => {
    expect(move.from.length).toBeGreaterThan(0)
    for (const status of [...move.from, move.to]) expect(RUN_STATUSES).toContain(status)
    expect(move.from.includes(move.to)).toBe(MARKS.includes(name))
    expect(EVENT_TYPES).toContain(move.event)
    expect(TRANSITION_RULES[name].guard).not.toBe('')
  })

  test('every status can be reached, and every one but the last can be left', () => {
    const reached = new Set<RunStatus>(['pending', ...MOVES.map(([, move]) => move.to)])
    expect(reached).toStrictEqual(new Set(RUN_STATUSES))
    for (const status of RUN_STATUSES) expect(movesFrom(status).length > 0).toBe(status !== 'completed' && status !== 'cancelled')
  })
})

describe('the rules', () => {
  test('completed and cancelled are final', () => {
    expect(movesFrom('completed')).toStrictEqual([])
    expect(movesFrom('cancelled')).toStrictEqual([])
  })

  test('a failed run goes on only when a client asks (000 §失敗と再実行)', () => {
    expect(movesFrom('failed')).toStrictEqual(['retry'])
    expect(TRANSITION_RULES.retry.who).toBe('client')
  })

  test('only a claim starts a run (R5)', () => {
    expect(MOVES.filter(([, { from, to }]) => to === 'running' && !from.includes(to)).map(([name]) => name)).toStrictEqual(['claim'])
  })

  test('a running run is moved by its owner, or by anyone once its lease is over', () => {
    for (const name of movesFrom('running')) {
      const { who, guard } = TRANSITION_RULES[name]
      expect(who === 'owner' ? /lease generation and claim token/ : /lease is over/).toSatisfy((rule: RegExp) => rule.test(guard))
      expect(['owner', 'anyone']).toContain(who)
    }
  })

  test('the event says where the run went', () => {
    const events: Record<RunStatus, EventType[]> = {
      pending: ['run:release', 'run:reclaim', 'run:retry', 'run:wait', 'run:assign', 'run:orphan'],
      running: ['run:start', 'run:confirm'],
      completed: ['run:complete'],
      failed: ['run:fail'],
      cancelled: ['run:cancel'],
    }
    for (const [, move] of MOVES) expect(events[move.to]).toContain(move.event)
  })

  test('isTerminal is: no owner and no claim can move it', () => {
    for (const status of RUN_STATUSES) {
      expect(isTerminal(status)).toBe(movesFrom(status).every((move) => TRANSITION_RULES[move].who === 'client') && status !== 'pending')
    }
  })
})

test('EVENT_TYPES lists every event of the union once', () => {
  const missing: Exclude<EventType, (typeof EVENT_TYPES)[number]>[] = []
  const complete: [Exclude<EventType, (typeof EVENT_TYPES)[number]>] extends [never] ? true : false = true
  expect([missing.length, complete, new Set(EVENT_TYPES).size]).toStrictEqual([0, true, EVENT_TYPES.length])
})
