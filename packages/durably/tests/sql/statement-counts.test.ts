// A durable runtime is as fast as its commits are few (DESIGN §5).
import { describe, expect, test } from 'vitest'
import type { OwnerWrite } from '../../src/store/owner-write.ts'
import { type CountingDialect, countingDialect } from '../../src/testing/counting-dialect.ts'
import { DRIVERS } from './drivers.ts'
import { migratedStore, temporaryFile } from './place.ts'
import { claimed, newRun, recordStep } from './runs.ts'

describe.each(DRIVERS)('$name', ({ dialect }) => {
  async function setup() {
    const counting = countingDialect(dialect(temporaryFile()))
    return { counting, store: await migratedStore(counting) }
  }

  test('creating a run is one commit', async () => {
    const { counting, store } = await setup()
    const sent = await count(counting, () => store.runs.create([newRun({ idempotencyKey: 'k' })]))
    expect(sent).toMatchObject({ statements: 5, commits: 1 })
  })

  test('a run without a key is not looked for', async () => {
    const { counting, store } = await setup()
    const sent = { statements: 4, commits: 1, selects: 0 }
    expect(await count(counting, () => store.runs.create([newRun()]))).toMatchObject(sent)
    expect(await count(counting, () => store.runs.create([newRun(), newRun({ concurrencyKey: 'k' })]))).toMatchObject(sent)
  })

  test('runs that are created in one turn share a commit, also if the store is closed in that turn', async () => {
    const { counting, store } = await setup()
    const runs = Array.from({ length: 10 }, () => newRun())
    const sent = await count(counting, async () => {
      const creating = runs.map((run) => store.runs.create([run]))
      await store.close()
      const created = (await Promise.all(creating)).flat()
      expect(created.map(({ run }) => run.id)).toEqual(runs.map(({ id }) => id))
    })
    expect(sent).toMatchObject({ statements: 4, commits: 1, selects: 0 })
  })

  test('creating 1,000 runs takes as many statements as creating one', async () => {
    const { counting, store } = await setup()
    const runs = Array.from({ length: 1000 }, (_, i) => newRun({ idempotencyKey: i % 2 ? `${i}` : null }))
    expect(await count(counting, () => store.runs.create(runs))).toMatchObject({ statements: 5, commits: 1 })
  })

  test('huge payloads are cut into several statements of one transaction', async () => {
    const { counting, store } = await setup()
    const payload = JSON.stringify('x'.repeat(3 * 1024 * 1024))
    const runs = Array.from({ length: 3 }, () => newRun({ payload }))
    expect(await count(counting, () => store.runs.create(runs))).toMatchObject({ statements: 8, commits: 1 })
  })

  test('a claim is one commit', async () => {
    const { counting, store } = await setup()
    await store.runs.create([newRun()])
    const sent = await count(counting, () => store.runs.claim({ jobNames: ['job', 'other'], tokens: ['t'], leaseMs: 1000 }))
    expect(sent).toMatchObject({ statements: 5, commits: 1, selects: 1 })
  })

  test('a checkpoint is one commit, and reads whether it was accepted', async () => {
    const { counting, store } = await setup()
    const claim = await claimed(store)
    const sent = await count(counting, () => store.runs.apply([recordStep(claim, 1)]))
    expect(sent).toMatchObject({ statements: 6, commits: 1, selects: 1 })
    expect(counting.statements.map((sql) => sql.trim().split(/\s/)[0]?.toLowerCase())).toEqual([
      'begin',
      'update',
      'insert',
      'insert',
      'select',
      'commit',
    ])
  })

  test('a checkpoint with any number of events and log lines takes one statement more', async () => {
    const { counting, store } = await setup()
    const claim = await claimed(store)
    const write = recordStep(claim, 1)
    const line = { runId: claim.runId, stepName: null, level: 'info' as const, message: 'm', data: null, timestamp: 'now' }
    const logs = Array.from({ length: 100 }, (_, i) => ({ id: `line ${i}`, ...line }))
    const sent = await count(counting, () => store.runs.apply([{ ...write, logs, events: Array(100).fill(write.events[0]) }]))
    expect(sent).toMatchObject({ statements: 7, commits: 1, selects: 1 })
  })

  test('a heartbeat that carries nothing is one update', async () => {
    const { counting, store } = await setup()
    const write = { ...recordStep(await claimed(store), 1), events: [], verb: { type: 'heartbeat', leaseMs: 1000 } as const }
    expect(await count(counting, () => store.runs.apply([write]))).toMatchObject({ statements: 4, commits: 1, selects: 1 })
  })

  test('the end of a run is one commit', async () => {
    const { counting, store } = await setup()
    const write = { ...recordStep(await claimed(store), 1), events: [], verb: { type: 'complete', output: null } as const }
    expect(await count(counting, () => store.runs.apply([write]))).toMatchObject({ statements: 5, commits: 1, selects: 1 })
  })

  test('writes of many runs share a commit', async () => {
    const { counting, store } = await setup()
    const claims = [await claimed(store), await claimed(store), await claimed(store)]
    const sent = await count(counting, () => store.runs.apply(claims.map((claim) => recordStep(claim, 1))))
    expect(sent).toMatchObject({ statements: 14, commits: 1, selects: 3 })
  })

  test('ten writes in one call are one transaction, whatever they write', async () => {
    const { counting, store } = await setup()
    const claims = await Promise.all(Array.from({ length: 10 }, () => claimed(store)))
    const verbs: OwnerWrite['verb'][] = [{ type: 'complete', output: null }, { type: 'release' }, { type: 'heartbeat', leaseMs: 1000 }]
    const writes = claims.map((claim, i) => ({ ...recordStep(claim, 1), ...(verbs[i] && { verb: verbs[i], events: [] }) }))
    const sent = await count(counting, async () => expect(await store.runs.apply(writes)).toHaveLength(10))
    // Each step three, each end two, the heartbeat one; what was accepted; and the transaction.
    expect(sent).toEqual({ statements: 7 * 3 + 2 * 2 + 1 + 10 + 2, commits: 1, selects: 10 })
  })

  test('the step of a stream takes one statement more', async () => {
    const { counting, store } = await setup()
    const write = recordStep(await claimed(store), 1)
    const verb = { ...write.verb, endsStream: true } as OwnerWrite['verb']
    expect(await count(counting, () => store.runs.apply([{ ...write, verb }]))).toEqual({ statements: 7, commits: 1, selects: 1 })
  })

  test('a claim of ten runs takes as many statements as that of one', async () => {
    const { counting, store } = await setup()
    await store.runs.create(Array.from({ length: 10 }, () => newRun()))
    const tokens = Array.from({ length: 10 }, (_, i) => `t${i}`)
    const sent = await count(counting, async () => {
      expect(await store.runs.claim({ jobNames: ['job', 'other'], tokens, leaseMs: 1000 })).toHaveLength(10)
    })
    expect(sent).toMatchObject({ statements: 5, commits: 1, selects: 1 })
  })

  test('without an event log a checkpoint is an update, an insert and a read', async () => {
    const counting = countingDialect(dialect(temporaryFile()))
    const store = await migratedStore(counting, { eventLog: false })
    const claim = await claimed(store)
    expect(await count(counting, () => store.runs.apply([recordStep(claim, 1)]))).toEqual({ statements: 5, commits: 1, selects: 1 })
  })

  test('a write that was applied before takes no statement more', async () => {
    const { counting, store } = await setup()
    const claim = await claimed(store)
    const write = recordStep(claim, 1)
    await store.runs.apply([write])
    expect(await count(counting, () => store.runs.apply([write]))).toMatchObject({ statements: 6, commits: 1, selects: 1 })
  })

  test('a look at an idle store is one read', async () => {
    const { counting, store } = await setup()
    expect(await count(counting, () => store.runs.probe(['a', 'b', 'c']))).toEqual({ statements: 1, commits: 0, selects: 1 })
  })

  test.each(['cancel', 'retry', 'delete'] as const)('%s is one commit', async (verb) => {
    const { counting, store } = await setup()
    const [{ run } = { run: { id: '' } }] = await store.runs.create([newRun()])
    const { statements, commits } = await count(counting, () => store.runs[verb](run.id))
    expect({ commits, few: statements <= 8 }).toEqual({ commits: 1, few: true })
  })
})

async function count(
  counting: CountingDialect,
  act: () => Promise<unknown>,
): Promise<{ statements: number; commits: number; selects: number }> {
  counting.reset()
  await act()
  return { statements: counting.statements.length, commits: counting.commits, selects: counting.selects }
}
