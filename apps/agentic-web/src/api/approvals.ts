// Somebody approves or denies what a tool wants to do. The engine takes the first decision about a call, whichever server it comes to.
import { DurablyError } from '@coji/durably'
import { Hono } from 'hono'
import { z } from 'zod'
import type { Approval } from '../wire/run.ts'
import type { Decision } from '../worker/approval.ts'
import { approvalSignal, askStep } from '../worker/step-names.ts'
import type { ApiContext, ApiEnv } from './api-context.ts'
import { HttpError, notFound } from './http-error.ts'
import { readBody } from './read-body.ts'
import { findRun } from './run-views.ts'

const approval = z.strictObject({ decision: z.enum(['approve', 'deny']) })

/** Below `/api/runs`. */
export function approvalRoutes(): Hono<ApiEnv> {
  return new Hono<ApiEnv>().post('/:id/approvals/:step', async ({ req, json, var: { context } }) => {
    const { decision } = await readBody(req.raw, approval)
    await decide(context, { runId: req.param('id'), step: req.param('step') }, decision)
    return json({ decision } satisfies Approval, 202)
  })
}

interface Asked {
  runId: string
  step: string
}

async function decide({ app, userId }: ApiContext, asked: Asked, decision: Approval['decision']): Promise<void> {
  const { runId, step } = asked
  if (!(await findRun(app.db, userId, runId))) throw notFound('run')
  const recorded = await recordedSteps(app, asked)
  if (!recorded.has(askStep(step))) throw notFound('question')
  const value: Decision = { approved: decision === 'approve', by: userId, at: new Date().toISOString() }
  const known = await decisionOf(app, asked)
  if (known) throw alreadyDecided(known)
  if (recorded.has(approvalSignal(step)))
    throw new HttpError('approval_expired', 'nobody decided in time, and the run went on without the tool')
  try {
    await app.durably.signal(runId, approvalSignal(step), value)
  } catch (error) {
    if (error instanceof DurablyError && error.code === 'run_ended') throw new HttpError('already_ended', 'the run has ended already')
    const first = error instanceof DurablyError && error.code === 'signal_taken' ? await decisionOf(app, asked) : undefined
    throw first ? alreadyDecided(first) : error
  }
}

async function recordedSteps({ db }: ApiContext['app'], { runId, step }: Asked): Promise<Set<string>> {
  const rows = await db
    .selectFrom('steps')
    .select('name')
    .where('run_id', '=', runId)
    .where('name', 'in', [askStep(step), approvalSignal(step)])
    .execute()
  return new Set(rows.map(({ name }) => name))
}

async function decisionOf({ durably }: ApiContext['app'], { runId, step }: Asked): Promise<Decision | undefined> {
  const sent = (await durably.getSignals(runId)).find(({ name }) => name === approvalSignal(step))
  return sent?.value as Decision | undefined
}

function alreadyDecided({ approved, by, at }: Decision): HttpError {
  return new HttpError('already_decided', `${by} has ${approved ? 'approved' : 'denied'} this already, at ${at}`)
}
