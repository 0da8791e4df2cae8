// Any text in a value or a name comes back unchanged, and is never interpreted.
import { deepEqual, equal, ok } from '../assert.ts'
import { chapter } from './chapter.ts'
import { MEGABYTE, TEXTS, VALUES } from './hostile-texts.ts'
import {
  claim,
  claimAll,
  complete,
  create,
  get,
  heartbeat,
  held,
  logLine,
  newRun,
  recorded,
  recordFailedStep,
  recordStep,
} from './world.ts'

export const values = chapter('values', {
  'payload, progress and output come back as they were written': async (world) => {
    for (const [what, text] of Object.entries(VALUES)) {
      const owner = await held(world, { payload: text })
      equal(owner.run.payload, text, `payload: ${what}`)
      await owner.succeed(complete(text), { progress: text })
      const { payload, progress, output } = await get(world, owner.run.id)
      deepEqual({ payload, progress, output }, { payload: text, progress: text, output: text }, what)
    }
  },

  'step outputs, failures and log data come back as they were written': async (world) => {
    const owner = await held(world)
    for (const [what, text] of Object.entries(VALUES)) {
      const line = logLine(world, owner.run.id, { data: text })
      const done = recordStep(owner, { name: `done ${what}`, output: text })
      const failed = recordFailedStep(owner, { name: `failed ${what}`, failure: text })
      await owner.succeed(done, { logs: [line] })
      await owner.succeed(failed)
      const steps = await world.store.steps.list(owner.run.id)
      ok(done.type === 'recordStep' && failed.type === 'recordStep', 'the verbs')
      deepEqual(steps.slice(-2), [done.step, failed.step], what)
      deepEqual((await world.store.logs.list(owner.run.id)).at(-1), line, what)
    }
  },

  'a megabyte comes back whole': async (world) => {
    const owner = await held(world, { payload: MEGABYTE })
    ok(owner.run.payload === MEGABYTE, 'payload of a claim')
    const line = logLine(world, owner.run.id, { message: MEGABYTE, data: MEGABYTE })
    await owner.succeed(recordStep(owner, { output: MEGABYTE }), { logs: [line], progress: MEGABYTE })
    await owner.succeed(complete(MEGABYTE))
    const { payload, progress, output } = await get(world, owner.run.id)
    ok(payload === MEGABYTE && progress === MEGABYTE && output === MEGABYTE, 'payload, progress and output')
    ok((await world.store.steps.list(owner.run.id))[0]?.output === MEGABYTE, 'output of the step')
    ok((await world.store.logs.list(owner.run.id))[0]?.data === MEGABYTE, 'data of the log line')
  },

  'no value is not an empty value': async (world) => {
    const owner = await held(world, { payload: null })
    equal(owner.run.payload, null, 'payload')
    await owner.succeed(recordStep(owner, { output: null }))
    await owner.succeed(complete(null))
    equal((await get(world, owner.run.id)).output, null, 'output')
    equal((await world.store.steps.list(owner.run.id))[0]?.output, null, 'output of the step')
  },

  'any text is a job name': async (world) => {
    const jobNames = Object.values(TEXTS)
    for (const [what, jobName] of Object.entries(TEXTS)) {
      const { id } = await create(world, { jobName })
      equal((await world.store.runs.probe([jobName])).due, true, `probe: ${what}`)
      deepEqual(
        (await world.store.runs.list({ jobNames: [jobName] })).map((run) => run.id),
        [id],
        `list: ${what}`,
      )
      equal(
        await claim(
          world,
          jobNames.filter((other) => other !== jobName),
        ),
        null,
        `not under another name: ${what}`,
      )
      equal((await claim(world, [jobName]))?.run.jobName, jobName, `claim: ${what}`)
    }
  },

  'any text is an idempotency key': async (world) => {
    const runs = Object.values(TEXTS).map((idempotencyKey) => newRun(world, { idempotencyKey }))
    const created = await world.store.runs.create(runs)
    const again = await world.store.runs.create(runs.map((run) => ({ ...run, id: world.env.id() })))
    deepEqual(
      created.map(({ run, created }) => [run.id, run.idempotencyKey, created]),
      runs.map((run) => [run.id, run.idempotencyKey, true]),
      'the first time',
    )
    deepEqual(
      again.map(({ run, created }) => [run.id, created]),
      runs.map((run) => [run.id, false]),
      'the second time',
    )
  },

  'any text is a concurrency key': async (world) => {
    const keys = Object.values(TEXTS)
    await world.store.runs.create([...keys, ...keys].map((concurrencyKey) => newRun(world, { concurrencyKey })))
    const running = (await claimAll(world)).map((owner) => owner.run.concurrencyKey)
    deepEqual(new Set(running), new Set(keys), 'one of each key runs')
    equal(running.length, keys.length, 'running runs')
  },

  'any text is a step name, an error and a log message': async (world) => {
    for (const [what, text] of Object.entries(TEXTS)) {
      const owner = await held(world)
      const line = logLine(world, owner.run.id, { stepName: text, message: text })
      await owner.succeed(recordStep(owner, { name: text }), { logs: [line] })
      equal((await owner.write(recordStep(owner, { name: text }))).ok, false, `the same step again: ${what}`)
      const failure = { name: 'Error', message: text }
      await owner.succeed({ type: 'fail', error: text, failure: JSON.stringify(failure), reason: 'error', failedStepName: text })
      equal((await get(world, owner.run.id)).error, text, `error: ${what}`)
      equal((await world.store.steps.list(owner.run.id))[0]?.name, text, `step: ${what}`)
      deepEqual(await world.store.logs.list(owner.run.id), [line], `log: ${what}`)
      const event = (await world.store.events.list(owner.run.id)).at(-1)
      deepEqual(JSON.parse(event?.payload ?? ''), { generation: 1, error: text, failure, failedStepName: text }, `event: ${what}`)
    }
  },

  'any text may stand in an event': async (world) => {
    const owner = await held(world)
    const texts = [...Object.values(TEXTS), 'a\0b', '\ud800 \udfff']
    const events = texts.map((stepName) => recorded(world, 'step:start', { generation: 1, stepName, stepIndex: 0 }))
    await owner.succeed(heartbeat(), { events })
    deepEqual(
      (await world.store.events.list(owner.run.id, { after: 2 })).map(({ payload }) => JSON.parse(payload)),
      events.map(({ payload }) => payload),
      'payloads',
    )
  },

  'tokens and ids that do not exist find nothing, whatever their text': async (world) => {
    const owner = await held(world)
    for (const [what, text] of Object.entries(TEXTS)) {
      equal(await world.store.runs.get(text), null, `get: ${what}`)
      deepEqual(await world.store.runs.adopt([text]), [], `adopt: ${what}`)
      equal(await world.store.runs.cancel(text), null, `cancel: ${what}`)
      deepEqual(await world.store.events.list(text), [], `events: ${what}`)
    }
    equal((await get(world, owner.run.id)).cancelRequestedAt, null, 'the run is left alone')
  },

  'no value pollutes the prototype of objects': async (world) => {
    const owner = await held(world, { payload: VALUES['an own __proto__'] ?? null, jobName: '__proto__', idempotencyKey: '__proto__' })
    await owner.succeed(recordStep(owner, { name: '__proto__' }))
    equal(Reflect.get({}, 'polluted'), undefined, 'polluted')
  },
})
