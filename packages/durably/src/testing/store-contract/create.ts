import { deepEqual, equal, ok } from '../assert.ts'
import { chapter } from './chapter.ts'
import { TEXTS } from './hostile-texts.ts'
import {
  claim,
  complete,
  create,
  eventTypes,
  fail,
  get,
  held,
  JOB,
  leasesEnd,
  mustClaim,
  newRun,
  recordStep,
  rowOf,
  unchanged,
} from './world.ts'

export const createChapter = chapter('create', {
  'migrate() may be called again and loses nothing': async (world) => {
    const { id } = await create(world)
    await Promise.all([world.store.migrate(), world.store.migrate()])
    equal((await get(world, id)).id, id, 'the run')
  },

  'a new run is pending and has nothing but what it was given': async (world) => {
    const { store, env } = world
    const given = newRun(world, { payload: '{"a":1}', idempotencyKey: 'order-1', concurrencyKey: 'tenant-1' })
    const now = env.wall()
    const [created] = await store.runs.create([given])
    ok(created, 'an answer')
    equal(created.created, true, 'created')
    const { version, updatedAt, ...row } = created.run
    const { delayMs, deadlineMs, parentToken, ...kept } = given
    deepEqual(
      row,
      {
        ...kept,
        status: 'pending',
        currentStepIndex: 0,
        progress: null,
        streams: null,
        effects: null,
        output: null,
        error: null,
        failure: null,
        reason: null,
        heartbeatAt: given.createdAt,
        runAt: now,
        leaseGeneration: 0,
        leaseOwner: null,
        leaseExpiresAt: null,
        leaseWrites: 0,
        cancelRequestedAt: null,
        recoveries: 0,
        attempts: 0,
        retryGeneration: 0,
        waitingFor: null,
        signals: 0,
        startedAt: null,
        finishedAt: null,
        scheduleId: null,
        scheduledFor: null,
        unchecked: false,
        preferWorkerId: null,
        lastEventSequence: 1,
        logRef: null,
        workerId: null,
        confirmMs: null,
        continuationState: null,
        continuationCheckDeadlineAt: null,
        assignedWorkerId: null,
        assignedAt: null,
        assignCount: 0,
        leaderEpoch: null,
      },
      'the new row',
    )
    deepEqual(await get(world, given.id), { ...row, version, updatedAt }, 'what get() reads')
  },

  'the answer is the row that is stored, whatever a run was given, and again when it is sent again': async (world) => {
    const now = world.env.wall()
    const labels = '{"a":"b"}'
    const given = [
      ...[{}, { payload: null }, { concurrencyKey: 'k' }, { labels }, { delayMs: 5 }, { runAt: now + 7 }, { deadlineMs: 9 }],
      ...[
        { delayMs: 9, deadlineMs: 5 },
        { runAt: now + 9, deadlineAt: now + 5 },
        { runAt: now + 9, deadlineAt: now - 5 },
      ],
      ...[...Object.values(TEXTS), '\uFFFD', '\uD800 \0'].map((text) => ({ jobName: text, payload: JSON.stringify(text) })),
    ].map((options) => newRun(world, options))
    for (const runs of [...given.map((run) => [run]), given, [...given, newRun(world), newRun(world, { idempotencyKey: 'k' })]]) {
      const created = await world.store.runs.create(runs)
      for (const { run } of created) deepEqual(run, await get(world, run.id), 'the answer and the stored run')
      deepEqual(
        created.map(({ run, created }) => [run.id, created]),
        runs.map(({ id }) => [id, true]),
        'runs',
      )
    }
    for (const { id } of given) deepEqual(await eventTypes(world, id), ['run:trigger'], 'events')
  },

  'a run that is sent again answers with the run as it is now, alone and beside a new one': async (world) => {
    const run = newRun(world)
    await world.store.runs.create([run])
    await mustClaim(world)
    for (const others of [[], [newRun(world)]]) {
      const [again] = await world.store.runs.create([run, ...others])
      equal(again?.run.status, 'running', 'its status')
      deepEqual(again, { run: await get(world, run.id), created: true }, 'the answer')
    }
  },

  'creating a run writes run:trigger as its first event': async (world) => {
    const { id } = await create(world)
    deepEqual(await eventTypes(world, id), ['run:trigger'], 'events')
  },

  'a batch answers in the order it was asked': async (world) => {
    const runs = ['c', 'a', 'b'].map((jobName) => newRun(world, { jobName }))
    const created = await world.store.runs.create([...runs].reverse())
    deepEqual(
      created.map(({ run }) => run.id),
      runs.map(({ id }) => id).reverse(),
      'ids',
    )
  },

  'an empty batch creates nothing': async (world) => {
    deepEqual(await world.store.runs.create([]), [], 'answers')
    deepEqual(await world.store.runs.list({}), [], 'runs')
  },

  'a batch of thousands is stored as a whole': async (world) => {
    const runs = Array.from({ length: 2500 }, (_, i) => newRun(world, { payload: `${i}` }))
    const created = await world.store.runs.create(runs)
    deepEqual(
      created.map(({ run, created }) => [run.id, run.payload, created]),
      runs.map(({ id, payload }) => [id, payload, true]),
      'answers',
    )
    equal((await world.store.runs.list({})).length, 2500, 'stored runs')
  },

  'a known idempotency key answers with the run that has it': async (world) => {
    const first = await create(world, { idempotencyKey: 'k', payload: '1' })
    const [again] = await world.store.runs.create([newRun(world, { idempotencyKey: 'k', payload: '2' })])
    deepEqual(again, { run: first, created: false }, 'the second answer')
    equal((await world.store.runs.list({})).length, 1, 'stored runs')
    deepEqual(await eventTypes(world, first.id), ['run:trigger'], 'events')
  },

  'a known idempotency key answers with the run as it is now': async (world) => {
    const owner = await held(world, { idempotencyKey: 'k' })
    await owner.succeed(complete())
    const [again] = await world.store.runs.create([newRun(world, { idempotencyKey: 'k' })])
    deepEqual(again, { run: await get(world, owner.run.id), created: false }, 'the answer')
    equal(again?.run.status, 'completed', 'its status')
  },

  'a failed run keeps its idempotency key': async (world) => {
    const owner = await held(world, { idempotencyKey: 'k' })
    await owner.succeed(fail())
    const [again] = await world.store.runs.create([newRun(world, { idempotencyKey: 'k' })])
    deepEqual([again?.run.id, again?.created], [owner.run.id, false], 'the answer')
  },

  'an idempotency key belongs to its job': async (world) => {
    const one = await create(world, { jobName: 'one', idempotencyKey: 'k' })
    const other = await create(world, { jobName: 'other', idempotencyKey: 'k' })
    ok(one.id !== other.id, 'two runs')
  },

  'idempotency keys differ in case, in spaces and in the form of their accents': async (world) => {
    const keys = ['k', 'K', 'k ', ' k', 'é', 'e\u0301']
    const created = await world.store.runs.create(keys.map((idempotencyKey) => newRun(world, { idempotencyKey })))
    deepEqual(
      created.map(({ run, created }) => [run.idempotencyKey, created]),
      keys.map((key) => [key, true]),
      'every key is its own',
    )
  },

  'runs without an idempotency key are never taken for one another': async (world) => {
    const created = await world.store.runs.create([newRun(world), newRun(world)])
    deepEqual(
      created.map(({ created }) => created),
      [true, true],
      'created',
    )
  },

  'one idempotency key twice in a batch gives the same run to both': async (world) => {
    const runs = ['1', '2', '3'].map((payload) => newRun(world, { payload, idempotencyKey: payload === '3' ? 'other' : 'k' }))
    const created = await world.store.runs.create(runs)
    deepEqual(
      created.map(({ run, created }) => [run.id, created]),
      [
        [runs[0]?.id, true],
        [runs[0]?.id, false],
        [runs[2]?.id, true],
      ],
      'answers',
    )
    equal((await world.store.runs.list({})).length, 2, 'stored runs')
  },

  'a batch mixes new runs and known keys': async (world) => {
    const known = await create(world, { idempotencyKey: 'k' })
    const fresh = newRun(world)
    const created = await world.store.runs.create([newRun(world, { idempotencyKey: 'k' }), fresh])
    deepEqual(
      created.map(({ run, created }) => [run.id, created]),
      [
        [known.id, false],
        [fresh.id, true],
      ],
      'answers',
    )
  },

  'ten concurrent create() with one idempotency key give one run': async (world) => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => world.store.runs.create([newRun(world, { idempotencyKey: 'k' })])))
    const created = answers.flat()
    equal(new Set(created.map(({ run }) => run.id)).size, 1, 'runs given out')
    equal(created.filter(({ created }) => created).length, 1, 'times that one was created')
    equal((await world.store.runs.list({})).length, 1, 'stored runs')
  },

  'a row that was handed out is a copy': async (world) => {
    const row = await create(world)
    row.status = 'completed'
    row.payload = 'changed by the caller'
    const stored = await get(world, row.id)
    deepEqual([stored.status, stored.payload], ['pending', '{"page":1}'], 'what is stored')
    stored.status = 'failed'
    const owner = await claim(world)
    ok(owner, 'the run is still claimable')
    owner.run.leaseOwner = 'someone else'
    owner.run.status = 'cancelled'
    deepEqual(await owner.write(complete()), { ok: true, cancelRequested: false }, 'the owner is still the owner')
  },

  'a returned row does not change when the run changes': async (world) => {
    const created = await create(world)
    const asCreated = { ...created }
    const owner = await mustClaim(world)
    const asClaimed = { ...owner.run }
    await world.env.advance(1)
    await owner.succeed(complete())
    deepEqual(created, asCreated, 'the row that create answered with')
    deepEqual(owner.run, asClaimed, 'the row that claim answered with')
    equal((await get(world, created.id)).status, 'completed', 'what is stored')
  },

  'rows that reap, cancel and retry return are copies': async (world) => {
    const { id } = await create(world)
    await mustClaim(world)
    await leasesEnd(world)
    const answers = [
      async () => (await world.store.runs.reap({ maxRecoveries: 0 }))[0]?.run,
      async () => rowOf(await world.store.runs.retry(id)),
      async () => rowOf(await world.store.runs.retry(id)),
      async () => rowOf(await world.store.runs.cancel(id)),
      async () => rowOf(await world.store.runs.cancel(id)),
      async () => (await world.store.runs.list({}))[0],
    ]
    for (const answer of answers) {
      const row = await answer()
      ok(row, 'an answer')
      await unchanged(world, id, async () => Object.assign(row, { status: 'running', jobName: 'changed', lastEventSequence: 99 }))
    }
  },

  'a step that was handed in or out is a copy': async (world) => {
    const owner = await held(world)
    const verb = recordStep(owner, { output: '"mine"' })
    ok(verb.type === 'recordStep', 'the verb')
    await owner.succeed(verb)
    verb.step.output = 'changed by the caller'
    const find = (runId: string) => world.store.steps.find(runId, [verb.step.id])
    for (const read of [world.store.steps.list, find]) {
      const [step] = await read(owner.run.id)
      equal(step?.output, '"mine"', 'what is stored')
      if (step) step.output = 'changed by the reader'
    }
    equal((await world.store.steps.list(owner.run.id))[0]?.output, '"mine"', 'what is stored in the end')
  },

  'a run that was handed in is copied': async (world) => {
    const given = newRun(world)
    await world.store.runs.create([given])
    given.jobName = 'changed by the caller'
    equal((await get(world, given.id)).jobName, JOB, 'what is stored')
  },
})
