// Runs as the page sees them: the engine's row and the app's, read in one statement.
import type { Failure } from '@coji/durably'
import type { AppDatabase } from '../db/tables.ts'
import type { RunErrorCode } from '../wire/event.ts'
import type { RunError, RunModel, RunStatus, RunView } from '../wire/run.ts'

export interface RunQuery {
  runId?: string
  sessionId?: string
  statuses?: readonly RunStatus[]
  /** Only runs that were accepted before this one. */
  before?: string
  /** Default: the newest first. */
  order?: 'asc' | 'desc'
  limit: number
}

export async function findRuns(db: AppDatabase, userId: string, query: RunQuery): Promise<RunView[]> {
  const { runId, sessionId, statuses, before, order = 'desc', limit } = query
  let rows = db
    .selectFrom('agent_turns as t')
    .innerJoin('runs as r', 'r.id', 't.run_id')
    .select(['t.run_id', 't.session_id', 't.turn', 't.input_text', 't.model', 't.input_tokens', 't.output_tokens'])
    .select(['r.status', 'r.created_at', 'r.started_at', 'r.finished_at', 'r.cancel_requested_at', 'r.error', 'r.failure', 'r.reason'])
    .select(['r.worker_id', 'r.lease_generation', 'r.last_event_sequence'])
    .where('t.user_id', '=', userId)
  if (runId !== undefined) rows = rows.where('t.run_id', '=', runId)
  if (sessionId !== undefined) rows = rows.where('t.session_id', '=', sessionId)
  if (before !== undefined) rows = rows.where('t.run_id', '<', before)
  if (statuses)
    rows = rows.where(
      'r.status',
      'in',
      statuses.map((status) => (status === 'queued' ? 'pending' : status)),
    )
  const sorted = sessionId === undefined ? rows.orderBy('t.run_id', order) : rows.orderBy('t.turn', order)
  return (await sorted.limit(limit).execute()).map(viewOf)
}

export async function findRun(db: AppDatabase, userId: string, runId: string): Promise<RunView | undefined> {
  const [run] = await findRuns(db, userId, { runId, limit: 1 })
  return run
}

interface JoinedRow {
  run_id: string
  session_id: string
  turn: number
  input_text: string
  model: string | null
  input_tokens: number
  output_tokens: number
  status: 'pending' | Exclude<RunStatus, 'queued'>
  created_at: string
  started_at: number | null
  finished_at: number | null
  cancel_requested_at: number | null
  error: string | null
  failure: string | null
  reason: string | null
  worker_id: string | null
  lease_generation: number
  last_event_sequence: number
}

function viewOf(row: JoinedRow): RunView {
  return {
    run_id: row.run_id,
    session_id: row.session_id,
    status: row.status === 'pending' ? 'queued' : row.status,
    input_text: row.input_text,
    turn: row.turn,
    created_at: row.created_at,
    started_at: isoOf(row.started_at),
    finished_at: isoOf(row.finished_at),
    cancel_requested_at: isoOf(row.cancel_requested_at),
    error: row.status === 'failed' ? runError(row.reason, row.failure === null ? null : (JSON.parse(row.failure) as Failure)) : null,
    worker_id: row.worker_id,
    attempts: row.lease_generation,
    last_seq: Number(row.last_event_sequence),
    model: row.model === null ? null : (JSON.parse(row.model) as RunModel),
    usage: { input_tokens: row.input_tokens, output_tokens: row.output_tokens },
  }
}

/** Drivers of Postgres give a BIGINT as text. */
function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(Number(ms)).toISOString()
}

const SHOWN: ReadonlySet<string> = new Set<RunErrorCode>([
  'bad_key',
  'model_not_found',
  'context_too_long',
  'model_error',
  'model_stalled',
  'secret_unreadable',
  'auth_expired',
  'too_many_steps',
  'answer_too_long',
  'tool_in_doubt',
  'session_deleted',
])

/** What an error of the program says stays in its log. */
export function runError(reason: string | null, failure: Pick<Failure, 'name' | 'code' | 'message'> | null): RunError {
  if (reason === 'timeout') return { code: 'timeout', message: 'The answer took too long, and was stopped.' }
  if (reason === 'crash_loop') return { code: 'worker_lost', message: 'The worker was lost several times while it worked on this answer.' }
  if (failure?.name === 'AgentError' && failure.code !== undefined && SHOWN.has(failure.code))
    return { code: failure.code as RunErrorCode, message: failure.message }
  return { code: 'internal', message: 'Something went wrong in the app. Its log says what.' }
}
