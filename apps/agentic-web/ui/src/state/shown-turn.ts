// All turns of the open session, as they are shown.
import type { RunError, RunModel } from '../../../src/wire/run.ts'
import type { Chat, LiveRun } from './chat.ts'
import { type Phase, phaseOf, wasRestarted } from './phase.ts'
import type { RunLog } from './run-log.ts'
import { type Block, blocksOfLog, type StoredTurn } from './turn.ts'

export interface ShownTurn {
  runId: string
  question: string
  askedAt: string
  blocks: Block[]
  phase: Phase
  error: RunError | null
  model: RunModel | null
  wasRestarted: boolean
  /** Of a run that the page has followed. */
  log: RunLog | null
}

export function shownTurns(chat: Chat): ShownTurn[] {
  return [...chat.stored.map((turn) => storedTurn(turn, chat)), ...chat.live.map((run) => liveTurn(run, chat))]
}

function storedTurn({ runId, question, askedAt, blocks, isInterrupted }: StoredTurn, { views }: Chat): ShownTurn {
  const view = views.get(runId)
  const ended = view?.status === 'failed' || view?.status === 'cancelled' ? view.status : 'completed'
  const phase = isInterrupted && ended === 'completed' ? 'cancelled' : ended
  const { error = null, model = null } = view ?? {}
  return { runId, question, askedAt, blocks, phase, error, model, wasRestarted: false, log: null }
}

function liveTurn(run: LiveRun, { views }: Chat): ShownTurn {
  const { runId, question, askedAt, log } = run
  const model = log.model ?? views.get(runId)?.model ?? null
  const shown = { runId, question, askedAt, blocks: blocksOfLog(log), phase: phaseOf(run), error: log.error, model, log }
  return { ...shown, wasRestarted: wasRestarted(run) }
}
