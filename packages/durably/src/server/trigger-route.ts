// POST /runs: triggers one run of a job, or a batch.
//   201: a new run. 200: the run that already has the idempotency key. 409: the key was used before, with another input.

import { DurablyError } from '../model/errors.ts'
import type { Job } from '../model/job.ts'
import { checkKeys } from '../model/known-keys.ts'
import { type BatchTriggerInput, checkBatch, TRIGGER_OPTIONS, type Triggered, type TriggerOptions, triggered } from '../runs/trigger.ts'
import { answerTriggered } from './answer-run.ts'
import { demand, isAllowed } from './authorize.ts'
import type { Call, Serve, Server } from './call.ts'
import { idempotencyKey } from './idempotency-key.ts'
import { jsonResponse } from './json-response.ts'
import { principalOf, withOwnKeys } from './principal.ts'
import { isPlainObject, readBody } from './read-body.ts'
import { shownTo } from './shown-run.ts'

const BATCH_MAX = 1000
const ONE = { job: 1, input: 1, options: 1 }
/** A transaction cannot leave the process that began it. */
const { tx: _, ...OPTIONS } = TRIGGER_OPTIONS

/** A request triggers runs of one job. Only the body names it, so the request is authorized once its body was read. */
export const triggerRuns: Serve = async (call) => {
  const { server, request } = call
  const body = await readBody(request, server.config)
  if (typeof body.job !== 'string') throw new DurablyError('invalid_argument', 'job must be the name of a job')
  await demand(server.config.authorize, request, 'runs:trigger', undefined, body.job)
  const job = await knownJob(server, body.job)
  return 'batch' in body ? triggerBatch(call, job, body) : triggerOne(call, job, body)
}

async function triggerOne(call: Call, job: Job, body: Record<string, unknown>): Promise<Response> {
  checkKeys('the body', body, ONE)
  const { input, options } = body
  const own = readOptions('options', options)
  const keyed = { ...own, ...idempotencyKey(call.request, 'options.idempotencyKey', own.idempotencyKey) }
  const [answer] = await triggerFor(call, job, [{ payload: input, options: keyed }])
  if (!answer) throw new Error('S2: create must answer for each run')
  await checkKnown(call, answer, 'idempotencyKey')
  return answerTriggered(call, answer.run, answer.isNew)
}

async function triggerBatch(call: Call, job: Job, { batch, ...others }: Record<string, unknown>): Promise<Response> {
  const stray = Object.keys(others).find((field) => field !== 'job')
  if (stray !== undefined) throw new DurablyError('invalid_argument', `${stray} does not go with batch; put it into its items`)
  if (call.request.headers.get('Idempotency-Key') !== null)
    throw new DurablyError('invalid_argument', 'a batch takes no Idempotency-Key; give each item one in its options')
  checkBatch(batch)
  if (batch.length < 1 || batch.length > BATCH_MAX)
    throw new DurablyError('invalid_argument', `a batch must hold 1 to ${BATCH_MAX} items, got ${batch.length}`)
  const inputs = batch.map(({ payload, options }, i) => ({ payload, options: readOptions(`batch[${i}].options`, options) }))
  const answers = await triggerFor(call, job, inputs)
  for (const [i, answer] of answers.entries()) await checkKnown(call, answer, `batch[${i}]: the other items are stored; its idempotencyKey`)
  const shown = await shownTo(call)
  return jsonResponse(201, { runs: answers.map(({ run }) => shown.run(run)) })
}

/** A job of this server, or one that workers of other processes have spoken of. */
async function knownJob({ engine }: Server, name: string): Promise<Job> {
  const job = engine.jobs.get(name) ?? (await engine.cluster.foreignJobs.known(name))
  if (!job) throw new DurablyError('job_not_found', `there is no job ${JSON.stringify(name)} on this server; GET /jobs lists them`)
  return job
}

function readOptions(what: string, options: unknown): TriggerOptions {
  if (options === undefined) return {}
  if (!isPlainObject(options)) throw new DurablyError('invalid_argument', `${what} must be an object`)
  checkKeys(what, options, OPTIONS)
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

/** Keys are stored per principal, so that no principal gets the run of another, or has to wait for it. */
async function triggerFor(call: Call, job: Job, inputs: BatchTriggerInput<unknown>[]): Promise<Triggered<unknown>[]> {
  const principal = await principalOf(call)
  const owned = inputs.map(({ payload, options = {} }) => ({ payload, options: withOwnKeys(principal, options) }))
  return triggered(call.server.engine.trigger, job, owned)
}

async function checkKnown({ server, request }: Call, { run, isNew, isSameInput }: Triggered<unknown>, what: string): Promise<void> {
  if (isNew) return
  const isMine = await isAllowed(server.config.authorize, request, 'runs:read', run)
  if (isMine && isSameInput) return
  throw new DurablyError('idempotency_conflict', `${what} was used before, with another input; use a new one`)
}
