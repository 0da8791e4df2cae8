// Removes what nobody needs any more, once an hour: sessions that were deleted, with their runs, the files of sessions that were not
// used for a long time, and what signing in leaves behind.
import type { Durably, JobHandle } from '@coji/durably'
import { z } from 'zod'
import type { App } from '../app.ts'
import { AGENT_RUN } from './agent-run.ts'

/** Of each kind, in one go; the next hour takes the next ones. */
const BATCH = 500

export interface CleanedUp {
  sessions: number
  workspaces: number
  signIns: number
}

export type CleanUpJob = JobHandle<'agent-clean-up', Record<string, never>, CleanedUp>

export function defineCleanUp(durably: Durably, app: () => App): CleanUpJob {
  return durably.defineJob(
    { name: 'agent-clean-up', input: z.record(z.string(), z.never()) },
    async (ctx): Promise<CleanedUp> => ({
      sessions: await ctx.run('remove deleted sessions', () => removeDeletedSessions(app())),
      workspaces: await ctx.run('remove old files', () => removeOldFiles(app())),
      signIns: await ctx.run('remove old sign-ins', () => removeOldSignIns(app())),
    }),
  )
}

export async function scheduleCleanUp({ durably, cleanUp }: App): Promise<void> {
  await durably.schedule({ job: cleanUp, every: '1h', payload: {} })
}

async function removeDeletedSessions({ db, durably }: App): Promise<number> {
  const deleted = await db.selectFrom('agent_sessions').select('session_id').where('deleted_at', 'is not', null).limit(BATCH).execute()
  let removed = 0
  for (const { session_id } of deleted) {
    const labels = { session: session_id }
    await durably.deleteRuns({ jobName: AGENT_RUN, labels })
    // A run that has not ended yet is left, and so is its session.
    if ((await durably.getRuns({ jobName: AGENT_RUN, labels, limit: 1 })).length > 0) continue
    await db.deleteFrom('agent_sessions').where('session_id', '=', session_id).execute()
    removed += 1
  }
  return removed
}

async function removeOldFiles({ db, config }: App): Promise<number> {
  const before = new Date(Date.now() - config.limits.workspaceTtlMs).toISOString()
  const old = db.selectFrom('agent_sessions').select('session_id').where('updated_at', '<', before)
  const { numDeletedRows } = await db.deleteFrom('agent_files').where('session_id', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}

const DAY_MS = 86_400_000

/** Links and journeys to other services stay for a day after their end, so that one can be told that they were used, or are too old. */
async function removeOldSignIns({ db }: App): Promise<number> {
  const now = Date.now()
  const dayAgo = new Date(now - DAY_MS).toISOString()
  const removed = [
    await db.deleteFrom('agent_web_sessions').where('expires_at', '<', new Date(now).toISOString()).executeTakeFirst(),
    await db.deleteFrom('agent_streams').where('expires_at', '<', now).executeTakeFirst(),
    await db.deleteFrom('agent_invites').where('expires_at', '<', dayAgo).executeTakeFirst(),
    await db
      .deleteFrom('oauth_state')
      .where('expires_at', '<', now - DAY_MS)
      .executeTakeFirst(),
    await db
      .deleteFrom('agent_counters')
      .where('window_start', '<', now - DAY_MS)
      .executeTakeFirst(),
  ]
  return removed.reduce((sum, { numDeletedRows }) => sum + Number(numDeletedRows), 0)
}
