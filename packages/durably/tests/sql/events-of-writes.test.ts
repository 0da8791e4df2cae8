// The events of a write with one or two of them are columns of its statement, those of others are JSON. What is stored must not tell which it was.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { iso } from '../../src/model/env.ts'
import type { RecordedEvent } from '../../src/model/event.ts'
import { eventsOf, type OwnerVerb, type OwnerWrite } from '../../src/store/owner-write.ts'
import { NO_ATTACHMENTS } from '../../src/testing/store-contract/world.ts'
import { migratedStore } from './place.ts'
import { PLACES } from './places.ts'
import { claimed, realEnv, recordStep } from './runs.ts'

const gathered: fc.Arbitrary<RecordedEvent> = fc.record({
  type: fc.constantFrom('step:start', 'log:write'),
  payload: fc.constantFrom({}, { stepName: '\0 \ud800 \' " \\ ☃ \uFFFD' }, { data: { n: null, t: 'x'.repeat(5000) } }),
  createdAt: fc.constantFrom(iso(0), iso(1_800_000_000_000)),
}) as fc.Arbitrary<RecordedEvent>

const VERBS: readonly (OwnerVerb | 'step')[] = [
  'step',
  { type: 'heartbeat', leaseMs: 60_000 },
  { type: 'complete', output: null },
  { type: 'release' },
  { type: 'fail', error: 'e', failure: '{"name":"Error","message":"\\ud800"}', reason: 'error', failedStepName: 's' },
]

const write = fc.record({ verb: fc.constantFrom(...VERBS), events: fc.array(gathered, { maxLength: 4 }) })

describe.each(PLACES)('on $name', ({ dialect }) => {
  test('every write of a group stores all its events, in their order, however many each has', { timeout: 60_000 }, async () => {
    const store = await migratedStore(await dialect())
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 5 }), async (given) => {
        const writes: OwnerWrite[] = []
        for (const { verb, events } of given) {
          const claim = await claimed(store, { jobName: realEnv.id() })
          const step = recordStep(claim, 1)
          writes.push({ ...step, ...NO_ATTACHMENTS, verb: verb === 'step' ? step.verb : verb, events })
        }
        expect((await store.runs.apply(writes)).map(({ ok }) => ok)).toEqual(writes.map(() => true))
        for (const write of writes) {
          const expected = eventsOf(write, 'now').map(({ type, payload }, i) => [3 + i, type, JSON.stringify(payload)])
          const stored = (await store.events.list(write.claim.runId)).slice(2)
          expect(stored.map(({ seq, type, payload }) => [seq, type, payload])).toEqual(expected)
          expect(stored.slice(0, write.events.length).map(({ createdAt }) => createdAt)).toEqual(
            write.events.map((event) => event.createdAt),
          )
          expect((await store.runs.get(write.claim.runId))?.lastEventSequence).toBe(2 + expected.length)
        }
      }),
      { numRuns: 40 },
    )
  })

  test('without an event log no event is stored, and they are counted all the same', async () => {
    const store = await migratedStore(await dialect(), { eventLog: false })
    const claim = await claimed(store)
    const { events, ...step } = recordStep(claim, 1)
    await store.runs.apply([{ ...step, events: [...events, ...events] }])
    expect(await store.events.list(claim.runId)).toEqual([])
    expect((await store.runs.get(claim.runId))?.lastEventSequence).toBe(5)
  })
})
