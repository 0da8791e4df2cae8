import type { RunLogEvent } from '@coji/durably'
import { Hono } from 'hono'
import { z } from 'zod'
import { enqueue, requestCancel } from '../run-queue.ts'
import type { AcceptedRun, CancelledRun, RunList, RunStatus, RunView } from '../wire/run.ts'
import type { ApiContext, ApiEnv } from './api-context.ts'
import { HttpError, notFound, refuseStream } from './http-error.ts'
import { countStream } from './open-streams.ts'
import { readBody, storableText } from './read-body.ts'
import { findRun, findRuns } from './run-views.ts'
import { translate } from './translate.ts'

const MESSAGE_LENGTH_MAX = 100_000
const KEY_LENGTH_MAX = 200
const PAGE_MAX = 100

export const message = storableText(MESSAGE_LENGTH_MAX).refine((text) => text.trim() !== '', 'must not be empty')
const newRun = z.strictObject({ session_id: z.string(), message })

export function runRoutes(): Hono<ApiEnv> {
  return new Hono<ApiEnv>()
    .post('/', async ({ req, json, var: { context } }) => {
      const { session_id, message } = await readBody(req.raw, newRun)
      const { run, isNew } = await accept(context, { sessionId: session_id, message, key: idempotencyKey(req.raw) })
      return json(run, isNew ? 201 : 200)
    })
    .get('/', async ({ req, json, var: { context } }) => json(await listRuns(context, new URL(req.url).searchParams)))
    .get('/:id', async ({ req, json, var: { context } }) => json(await visibleRun(context, req.param('id'))))
    .post('/:id/cancel', async ({ req, json, var: { context } }) => json(await cancel(context, req.param('id')), 202))
    .post('/:id/retry', async ({ req, json, var: { context } }) => json(await retry(context, req.param('id')), 201))
    .get('/:id/events', ({ req, var: { context } }) => runEvents(context, req.raw, req.param('id')))
}

export async function accept(
  { app, userId }: ApiContext,
  { sessionId, message, key }: { sessionId: string; message: string; key?: string | undefined },
): Promise<{ run: AcceptedRun; isNew: boolean }> {
  const enqueued = await enqueue(app, userId, { sessionId, message, ...(key !== undefined && { idempotencyKey: key }) })
  const { queuedRuns, perUser } = app.config.limits
  if (enqueued === 'too many of the user')
    throw new HttpError('too_many_runs', `${perUser.runs} of your messages wait for an answer already; wait or cancel one`)
  if (enqueued === 'full')
    throw new HttpError('too_many_runs', `${queuedRuns} messages of this session wait for an answer already; wait or cancel one`)
  if (enqueued === 'no session') throw notFound('session')
  if (enqueued === 'other message with this key')
    throw new HttpError('idempotency_conflict', 'this Idempotency-Key was used with another session or message; use a new key')
  const { runId, isNew } = enqueued
  const status = isNew ? 'queued' : ((await findRun(app.db, userId, runId))?.status ?? 'queued')
  return { run: { run_id: runId, status }, isNew }
}

function idempotencyKey(request: Request): string | undefined {
  const key = request.headers.get('Idempotency-Key')
  if (key === null) return undefined
  if (key === '' || key.length > KEY_LENGTH_MAX)
    throw new HttpError('invalid_request', `Idempotency-Key must have 1 to ${KEY_LENGTH_MAX} characters`)
  return key
}

const STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const satisfies RunStatus[]
const listQuery = z.object({
  session_id: z.string().optional(),
  statuses: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(STATUSES)))
    .optional(),
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(20),
  before: z.string().optional(),
})

async function listRuns({ app, userId }: ApiContext, search: URLSearchParams): Promise<RunList> {
  const checked = listQuery.safeParse(Object.fromEntries(search))
  if (!checked.success) throw new HttpError('invalid_request', z.prettifyError(checked.error))
  const { session_id, statuses, limit, before } = checked.data
  const runs = await findRuns(app.db, userId, {
    limit: limit + 1,
    ...(session_id !== undefined && { sessionId: session_id }),
    ...(statuses !== undefined && { statuses }),
    ...(before !== undefined && { before }),
  })
  return { runs: runs.slice(0, limit), has_more: runs.length > limit }
}

async function visibleRun({ app, userId }: ApiContext, runId: string): Promise<RunView> {
  const run = await findRun(app.db, userId, runId)
  if (!run) throw notFound('run')
  return run
}

async function cancel(context: ApiContext, runId: string): Promise<CancelledRun> {
  await visibleRun(context, runId)
  const outcome = await requestCancel(context.app, runId)
  const { status } = await visibleRun(context, runId)
  if (outcome === 'refused') throw new HttpError('already_ended', `the run has ended already: it is ${status}`)
  return { run_id: runId, status }
}

async function retry(context: ApiContext, runId: string): Promise<AcceptedRun> {
  const { status, session_id, input_text } = await visibleRun(context, runId)
  if (status === 'queued' || status === 'running') throw new HttpError('not_ended', 'the run has not ended; cancel it first')
  if (status === 'completed') throw new HttpError('not_failed', 'the run has completed; send its message again as a new one')
  return (await accept(context, { sessionId: session_id, message: input_text })).run
}

const LAST_EVENTS: ReadonlySet<RunLogEvent['type']> = new Set(['run:complete', 'run:fail', 'run:cancel'])

export async function runEvents(context: ApiContext, request: Request, runId: string): Promise<Response> {
  await visibleRun(context, runId)
  const { end, mayRead } = await countStream(context)
  const messages = (event: RunLogEvent) => {
    if (LAST_EVENTS.has(event.type)) end()
    return translate(event).map(({ type, ...data }) => ({ event: type, data }))
  }
  try {
    request.signal.addEventListener('abort', end)
    const response = await context.streams.open(request, runId, { principal: context.userId, messages, mayRead })
    if (response.body === null) end()
    return response
  } catch (error) {
    end()
    return refuseStream(error)
  }
}
