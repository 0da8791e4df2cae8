import { describe, expect, test } from 'vitest'
import { DurablyError } from '../../model/errors.ts'
import type { OwnerWrite, WriteOutcome } from '../../store/owner-write.ts'
import type { RunStore } from '../../store/runs.ts'
import { virtualEnv } from '../../testing/virtual-env.ts'
import { CommitQueue } from './commit-queue.ts'

const OK: WriteOutcome = { ok: true, cancelRequested: false }

function write(runId: string, number = 1): OwnerWrite {
  const claim = { runId, generation: 1, token: 't' }
  return { claim, number, verb: { type: 'heartbeat', leaseMs: 1 }, events: [], logs: [], progress: null, streams: null, effects: null }
}

interface Sent {
  /** `run#number` of each member. */
  members: string[]
  answer(outcomes?: WriteOutcome[]): void
  fail(error: unknown): void
}

/** A queue before a store whose answers the test gives. */
function setup(writers: number) {
  const env = virtualEnv()
  const sent: Sent[] = []
  const apply: RunStore['apply'] = (writes) =>
    new Promise((resolve, reject) => {
      const members = writes.map(({ claim, number }) => `${claim.runId}#${number}`)
      sent.push({ members, answer: (outcomes = writes.map(() => OK)) => resolve(outcomes), fail: reject })
    })
  let deferred = 0
  const counting = {
    ...env,
    defer: (fn: () => void) => {
      deferred++
      env.defer(fn)
    },
  }
  const queue = new CommitQueue({ runs: { apply } as RunStore, env: counting, writers: () => writers })
  const outcomes: string[] = []
  const ask = (runId: string, number = 1) => {
    const noted = (what: string) => void outcomes.push(`${runId}#${number} ${what}`)
    queue.add({
      write: write(runId, number),
      resolve: ({ ok }) => noted(ok ? 'ok' : 'refused'),
      reject: (error) => noted((error as DurablyError).code),
    })
  }
  return { env, sent, groups: () => sent.map(({ members }) => members), outcomes, ask, deferrals: () => deferred }
}

const RUNS = Array.from({ length: 10 }, (_, i) => `r${i}`)

describe('the commit queue', () => {
  test('sends the write of a run that is alone in the same turn, and waits for nobody (B1)', () => {
    const { ask, groups, deferrals } = setup(1)
    ask('a')
    expect(groups()).toEqual([['a#1']])
    expect(deferrals()).toBe(0)
  })

  test('ten runs that write in the same turn are one transaction (B1)', async () => {
    const { ask, groups, sent, outcomes, env } = setup(10)
    for (const run of RUNS) ask(run)
    expect(groups()).toEqual([RUNS.map((run) => `${run}#1`)])
    sent[0]?.answer()
    await env.idle()
    expect(outcomes).toEqual(RUNS.map((run) => `${run}#1 ok`))
  })

  test('so are those that write in one turn while others do not: they wait for its end, and for no time (B1)', async () => {
    const { ask, groups, env } = setup(10)
    for (const run of RUNS.slice(0, 4)) ask(run)
    expect(groups()).toEqual([])
    await env.idle()
    expect(groups()).toEqual([RUNS.slice(0, 4).map((run) => `${run}#1`)])
    expect(env.mono()).toBe(0)
  })

  test('a turn that was asked for sends nothing twice, and nothing early (B1, B3)', async () => {
    const { ask, groups, env, sent } = setup(2)
    ask('a')
    ask('b')
    await env.idle()
    ask('c')
    await env.idle()
    expect(groups()).toEqual([['a#1', 'b#1']])
    sent[0]?.answer()
    await env.idle()
    expect(groups()).toEqual([['a#1', 'b#1'], ['c#1']])
  })

  test('the second write of a run goes in a later group than the first, and others do not wait for it (B2)', async () => {
    const { ask, groups, env, sent } = setup(4)
    for (const [run, number] of [
      ['a', 1],
      ['a', 2],
      ['b', 1],
      ['a', 3],
    ] as const)
      ask(run, number)
    await env.idle()
    expect(groups()).toEqual([['a#1', 'b#1']])
    sent[0]?.answer()
    await env.idle()
    sent[1]?.answer()
    await env.idle()
    expect(groups()).toEqual([['a#1', 'b#1'], ['a#2'], ['a#3']])
  })

  test('one group is under way; what comes meanwhile is the next one (B3)', async () => {
    const { ask, groups, env, sent } = setup(3)
    ask('a')
    await env.idle()
    for (const run of ['b', 'c', 'd', 'e']) ask(run)
    await env.idle()
    expect(groups()).toEqual([['a#1']])
    sent[0]?.answer()
    await env.idle()
    expect(groups()).toEqual([['a#1'], ['b#1', 'c#1', 'd#1', 'e#1']])
  })

  test('a group that is not answered within 250 ms is not waited for; its answer still counts (B3)', async () => {
    const { ask, groups, env, sent, outcomes } = setup(2)
    ask('a')
    ask('b')
    ask('c')
    await env.advance(249)
    expect(groups()).toHaveLength(1)
    await env.advance(1)
    expect(groups()).toEqual([['a#1', 'b#1'], ['c#1']])
    sent[1]?.answer()
    await env.idle()
    expect(outcomes).toEqual(['c#1 ok'])
    ask('d')
    ask('e')
    await env.idle()
    expect(groups()[2]).toEqual(['d#1', 'e#1'])
    sent[0]?.answer([OK, { ok: false }])
    await env.idle()
    expect(outcomes).toEqual(['c#1 ok', 'a#1 ok', 'b#1 refused'])
    ask('f')
    await env.idle()
    expect(groups()).toHaveLength(3)
    expect(env.nextInMs()).not.toBeNull()
    sent[2]?.answer()
    await env.idle()
    expect(groups()[3]).toEqual(['f#1'])
    expect(env.nextInMs()).toBeNull()
  })

  test('an unknown outcome is unknown for all; the next group is sent (B4)', async () => {
    const { ask, groups, env, sent, outcomes } = setup(3)
    for (const run of ['a', 'b', 'c']) ask(run)
    ask('d')
    sent[0]?.fail(new DurablyError('store_unavailable', 'gone'))
    await env.idle()
    expect(outcomes).toEqual(['a#1 store_unavailable', 'b#1 store_unavailable', 'c#1 store_unavailable'])
    expect(groups()).toEqual([['a#1', 'b#1', 'c#1'], ['d#1']])
  })

  test('when the store rejects data, the members go alone, side by side, and only the bad one fails (B4)', async () => {
    const { ask, groups, env, sent, outcomes } = setup(3)
    for (const run of ['a', 'b', 'c']) ask(run)
    const rejected = new DurablyError('store_rejected', 'poison')
    sent[0]?.fail(rejected)
    await env.idle()
    expect(groups()).toEqual([['a#1', 'b#1', 'c#1'], ['a#1'], ['b#1'], ['c#1']])
    sent[1]?.answer()
    await env.idle()
    ask('a', 2)
    sent[2]?.fail(rejected)
    sent[3]?.answer()
    await env.idle()
    expect(outcomes).toEqual(['a#1 ok', 'b#1 store_rejected', 'c#1 ok'])
    expect(groups().slice(4)).toEqual([['a#2']])
  })

  test('a large group that the store rejects goes in four parts side by side, and only a part with a bad one in four again (B4)', async () => {
    const { ask, groups, env, sent, outcomes } = setup(100)
    const many = Array.from({ length: 100 }, (_, i) => `r${i}`)
    for (const run of many) ask(run)
    const isBad = (group: readonly string[] | undefined) => group?.includes('r27#1')
    const rounds: number[][] = []
    for (let answered = 0; answered < sent.length; ) {
      const round = groups().slice(answered)
      rounds.push(round.map(({ length }) => length))
      for (const group of round) {
        if (isBad(group)) sent[answered]?.fail(new DurablyError('store_rejected', 'poison'))
        else sent[answered]?.answer()
        answered++
      }
      await env.idle()
    }
    expect(rounds).toEqual([[100], [25, 25, 25, 25], [7, 7, 7, 4], [2, 2, 2, 1], [1, 1]])
    expect(outcomes.filter((outcome) => !outcome.endsWith(' ok'))).toEqual(['r27#1 store_rejected'])
    expect(outcomes).toHaveLength(100)
  })

  test('an alone one that is rejected is not sent again (B4)', async () => {
    const { ask, groups, env, sent, outcomes } = setup(1)
    ask('a')
    sent[0]?.fail(new DurablyError('store_rejected', 'poison'))
    await env.idle()
    expect(groups()).toHaveLength(1)
    expect(outcomes).toEqual(['a#1 store_rejected'])
  })

  test('a group holds a hundred at most; a refused member fails alone', async () => {
    const { ask, groups, env, sent, outcomes } = setup(250)
    const many = Array.from({ length: 250 }, (_, i) => `r${i}`)
    for (const run of many) ask(run)
    sent[0]?.answer(many.slice(0, 100).map((_, i) => (i === 7 ? { ok: false } : OK)))
    await env.idle()
    sent[1]?.answer()
    await env.idle()
    sent[2]?.answer()
    await env.idle()
    expect(groups().map(({ length }) => length)).toEqual([100, 100, 50])
    expect(outcomes.filter((outcome) => outcome.endsWith('refused'))).toEqual(['r7#1 refused'])
    expect(outcomes).toHaveLength(250)
  })
})
