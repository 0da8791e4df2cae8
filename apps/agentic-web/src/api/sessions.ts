import { Hono } from 'hono'
import { z } from 'zod'
import { listFiles, readFile, WORKSPACE_BYTES_MAX } from '../db/files.ts'
import { listMessages } from '../db/messages.ts'
import { countSessions, createSession, findSession, listSessions, markDeleted, renameSession } from '../db/sessions.ts'
import type { FileList, Message, SessionList, SessionView } from '../wire/session.ts'
import { cutOffAnswers } from '../worker/cut-off-answers.ts'
import type { ApiContext, ApiEnv } from './api-context.ts'
import { attachment } from './attachment.ts'
import { HttpError, notFound } from './http-error.ts'
import { readBody, storableText } from './read-body.ts'
import { findRuns } from './run-views.ts'

const LIST_MAX = 200
const ACTIVE_MAX = 100

const change = z.strictObject({ title: storableText(200).nullable().optional() })

export function sessionRoutes(): Hono<ApiEnv> {
  return new Hono<ApiEnv>()
    .get('/', async ({ req, json, var: { context } }) => json(await list(context, req.query('search') ?? '', req.query('limit'))))
    .post('/', async ({ req, json, var: { context } }) => {
      const { title = null } = await readBody(req.raw, change)
      const { session_id } = await createSession(context.app.db, context.userId, title)
      return json(await view(context, session_id), 201)
    })
    .get('/:id', async ({ req, json, var: { context } }) => json(await view(context, req.param('id'))))
    .patch('/:id', async ({ req, json, var: { context } }) => {
      const { title } = await readBody(req.raw, change)
      if (title !== undefined && !(await renameSession(context.app.db, context.userId, req.param('id'), title))) throw notFound('session')
      return json(await view(context, req.param('id')))
    })
    .delete('/:id', async ({ req, body, var: { context } }) => {
      await remove(context, req.param('id'))
      return body(null, 204)
    })
    .post('/:id/cancel', async ({ req, json, var: { context } }) =>
      json({ ok: true, cancelled: await cancelAll(context, req.param('id')) }, 202),
    )
    .get('/:id/files', async ({ req, json, var: { context } }) => json(await files(context, req.param('id'))))
    .get('/:id/files/:path{.+}', ({ req, var: { context } }) => download(context, req.param('id'), req.param('path')))
}

async function list({ app, userId }: ApiContext, search: string, limitText = '100'): Promise<SessionList> {
  const limit = /^\d{1,3}$/.test(limitText) ? Number(limitText) : 0
  if (limit < 1 || limit > LIST_MAX) throw new HttpError('invalid_request', `limit must be a number from 1 to ${LIST_MAX}`)
  const rows = await listSessions(app.db, userId, { search: search.slice(0, 200).replaceAll('\0', ''), limit })
  const busy = new Set(
    (await findRuns(app.db, userId, { statuses: ['queued', 'running'], limit: ACTIVE_MAX })).map((run) => run.session_id),
  )
  const sessions = rows.map((row) => ({ ...row, message_count: Number(row.message_count), is_busy: busy.has(row.session_id) }))
  return { sessions, total: await countSessions(app.db, userId) }
}

async function view({ app, userId }: ApiContext, sessionId: string): Promise<SessionView> {
  // One snapshot: a run that ends between two reads would be in neither list, or in both.
  const { session, messages, active_runs } = await app.db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => ({
      session: await findSession(trx, userId, sessionId),
      messages: await listMessages(trx, userId, sessionId),
      active_runs: await findRuns(trx, userId, { sessionId, statuses: ['queued', 'running'], order: 'asc', limit: ACTIVE_MAX }),
    }))
  if (!session) throw notFound('session')
  const { title, created_at, updated_at } = session
  const active = new Set(active_runs.map(({ run_id }) => run_id))
  const ended = messages.filter(({ run_id }) => !active.has(run_id))
  return { session_id: sessionId, title, created_at, updated_at, messages: await withCutOff(app, userId, sessionId, ended), active_runs }
}

/** Answers that were cut off, and that no later run has written yet. */
async function withCutOff(app: ApiContext['app'], userId: string, sessionId: string, messages: Message[]): Promise<Message[]> {
  const shown = new Set(messages.map(({ run_id }) => run_id))
  const answers = (await cutOffAnswers(app, { userId, sessionId, turn: 2_147_483_647 })).filter(({ runId }) => shown.has(runId))
  const cutOff = answers.map(({ runId, turn, parts }): Message => {
    const created_at = messages.findLast((message) => message.run_id === runId)?.created_at ?? ''
    return { id: `${runId}-cut-off`, run_id: runId, turn, role: 'assistant', parts, interrupted: true, created_at }
  })
  // The sort is stable: within a turn the one that was cut off is the last.
  return [...messages, ...cutOff].sort((a, b) => a.turn - b.turn)
}

async function cancelAll({ app, userId }: ApiContext, sessionId: string): Promise<number> {
  if (!(await findSession(app.db, userId, sessionId))) throw notFound('session')
  const runs = await findRuns(app.db, userId, { sessionId, statuses: ['queued', 'running'], limit: ACTIVE_MAX })
  const outcomes = await Promise.all(runs.map(({ run_id }) => app.durably.cancel(run_id)))
  return outcomes.filter((outcome) => outcome !== 'refused').length
}

async function remove(context: ApiContext, sessionId: string): Promise<void> {
  const { app, userId } = context
  await cancelAll(context, sessionId)
  if (!(await markDeleted(app.db, userId, sessionId))) throw notFound('session')
}

async function files({ app, userId }: ApiContext, sessionId: string): Promise<FileList> {
  if (!(await findSession(app.db, userId, sessionId))) throw notFound('session')
  const files = await listFiles(app.db, userId, sessionId)
  return { files, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), max_bytes: WORKSPACE_BYTES_MAX }
}

async function download({ app, userId }: ApiContext, sessionId: string, path: string): Promise<Response> {
  const content = path.includes('\0') ? undefined : await readFile(app.db, userId, sessionId, path)
  if (!content) throw notFound('file')
  return attachment(content, path.split('/').at(-1) ?? 'file')
}
