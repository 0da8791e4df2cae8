// How a run begins: it notes which model will answer and which tools there are, and keeps what earlier runs said before they were stopped.
import type { JobContext } from '@coji/durably'
import type { App } from '../app.ts'
import { insertMessage } from '../db/messages.ts'
import { readSettings, type StoredSettings } from '../db/settings.ts'
import type { AppTransaction } from '../db/tables.ts'
import { setModel } from '../db/turns.ts'
import type { RunModel } from '../wire/run.ts'
import type { RunInput } from './agent-run.ts'
import { type CutOffAnswer, cutOffAnswers } from './cut-off-answers.ts'
import { BEGIN, PREPARE } from './step-names.ts'
import type { RunTools } from './use-tool.ts'

export interface Prepared {
  settings: StoredSettings
  model: RunModel
  tools: RunTools
  cutOff: CutOffAnswer[]
}

export async function prepare(ctx: JobContext, app: App, input: RunInput): Promise<Pick<Prepared, 'settings' | 'tools'>> {
  const { userId } = input
  const { settings, model, tools, cutOff } = await ctx.run(PREPARE, async (): Promise<Prepared> => {
    const { settings } = await readSettings(app.db, userId)
    const model = { provider: settings.provider, model: settings.model, is_demo: settings.provider === 'demo' }
    const { offered, needApproval } = app.config.tools
    return { settings, model, tools: { offered, needApproval }, cutOff: await cutOffAnswers(app, input) }
  })
  await ctx.transaction(BEGIN, async (trx) => {
    await setModel(trx, userId, ctx.runId, model)
    for (const answer of cutOff) await saveCutOff(trx, input, answer)
  })
  return { settings, tools }
}

async function saveCutOff(trx: AppTransaction, { userId, sessionId }: RunInput, { runId, turn, parts }: CutOffAnswer): Promise<void> {
  const { position } = await trx
    .selectFrom('agent_messages')
    .select(({ fn }) => fn.max('position').as('position'))
    .where('user_id', '=', userId)
    .where('session_id', '=', sessionId)
    .where('turn', '=', turn)
    .executeTakeFirstOrThrow()
  const place = { userId, sessionId, runId, turn, position: (position ?? 0) + 1 }
  await insertMessage(trx, place, { role: 'assistant', parts, interrupted: true })
}
