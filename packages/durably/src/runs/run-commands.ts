// RunCommands — what can be done to a run from outside: retry, cancel, signal, decide, delete, purge.
import { publishingCommands } from '../events/publishing-commands.ts'
import type { RunEvents } from '../events/run-events.ts'
import type { Codec } from '../model/codec.ts'
import { decisionName } from '../model/decision-name.ts'
import { type Duration, durationMs } from '../model/duration.ts'
import { checkSignalName, type Decision, decodeEffects, isDecision, NOT_A_DECISION } from '../model/effect.ts'
import { type Env, iso } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import type { Job } from '../model/job.ts'
import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import { checkName } from '../model/name.ts'
import { isTerminal, type Run, type RunRow, type RunStatus, TERMINAL_STATUSES, type TerminalStatus, toRun } from '../model/run.ts'
import { isFinal } from '../model/transitions.ts'
import { versionMismatch } from '../model/version-mismatch.ts'
import type { Audited } from '../store/cluster/audit.ts'
import { type ActorOption, audited } from '../store/cluster/audited.ts'
import type { Change } from '../store/notifier.ts'
import { type CancelOutcome, type Changed, type CommandOptions, PURGE_PAGE, type RunStore, type StoreCommand } from '../store/runs.ts'
import type { SignalStore } from '../store/signals.ts'
import { checkSignal } from './check-signal.ts'

export interface RunCommandDeps {
  runs: RunStore
  env: Env
  codec: Codec
  runEvents: RunEvents
  signals: SignalStore
  publish: (change: Change) => void
  /** By name. */
  jobs: ReadonlyMap<string, Job>
}

/** The options of `purge`. */
export interface PurgeOptions {
  /** How long ago the runs must have ended, for example `'30d'`. */
  olderThan: Duration
  /** Which runs are removed, by how they ended. Default: `completed`, `failed` and `cancelled`. */
  status?: TerminalStatus | readonly TerminalStatus[]
  /** How many runs are removed at most. Default: all. */
  limit?: number
}

/** The options of `signal`. */
export interface SignalOptions extends ActorOption {
  /** Makes it safe to send the signal again: a second one with the same key changes nothing and is not an error. */
  idempotencyKey?: string
}

const PURGE_OPTIONS: KeysOf<PurgeOptions> = { olderThan: 1, status: 1, limit: 1 }
const SIGNAL_OPTIONS: KeysOf<SignalOptions> = { idempotencyKey: 1, actor: 1 }
const DECIDE_OPTIONS: KeysOf<ActorOption> = { actor: 1 }
const COMMAND_OPTIONS: KeysOf<CommandOptions> = { ifVersion: 1, actor: 1 }

function whyNotRetryable({ status, parentRunId }: RunRow): string {
  // A new run beside one that has not ended would do its work twice.
  if (!isTerminal(status)) return `it is ${status} and has not ended, so it still does its work; explain() says what it waits for`
  const why =
    status === 'failed' ? `run ${parentRunId}, which triggered it, was cancelled` : `it is ${status}, and only a failed run can be retried`
  return `${why}; trigger a new one instead`
}

export class RunCommands {
  readonly #deps: RunCommandDeps
  readonly #store: Pick<RunStore, 'cancel' | 'retry' | 'delete'>

  constructor(deps: RunCommandDeps) {
    this.#deps = deps
    this.#store = publishingCommands(deps.runs, deps.publish)
  }

  /** A failed run goes on from its last recorded step. */
  async retry(id: string, options?: CommandOptions): Promise<Run> {
    const { env, codec } = this.#deps
    return toRun(await this.retryRow(id, options), codec, env.wall())
  }

  async retryRow(id: string, options?: CommandOptions): Promise<RunRow> {
    const { runEvents } = this.#deps
    const { outcome, run } = sameVersion(found(await this.#store.retry(id, this.#command('run:retry', id, options)), id), id, options)
    if (outcome === 'refused')
      throw new DurablyError('run_not_retryable', `run ${id} cannot be retried: ${whyNotRetryable(run)}`, { runId: id })
    runEvents.emit('run:retry', () => ({ run }))
    return run
  }

  /** A pending run is cancelled at once, a running one is asked to stop, and so are those below it; a run that has ended stays as it is. */
  async cancel(id: string, options?: CommandOptions): Promise<CancelOutcome['outcome']> {
    const { runEvents } = this.#deps
    const command = this.#command('run:cancel', id, options)
    const { outcome, run, others } = sameVersion(found(await this.#store.cancel(id, command), id), id, options)
    for (const stopped of [{ ...run, outcome }, ...others])
      if (stopped.outcome === 'cancelled') runEvents.emit('run:cancel', () => ({ run: stopped }))
    return outcome
  }

  /** Decides about an effect whose worker was lost. */
  async decide(runId: string, stepName: string, decision: Decision, options: ActorOption = {}): Promise<void> {
    checkName('step name', stepName)
    checkKeys('decide', options, DECIDE_OPTIONS)
    if (!isDecision(decision)) throw new DurablyError('invalid_argument', NOT_A_DECISION)
    const { effects, status } = found(await this.#deps.runs.get(runId), runId)
    const open = decodeEffects(effects).find(({ name }) => name === stepName)
    if (!open || status === 'running')
      throw new DurablyError(
        'invalid_argument',
        `step ${JSON.stringify(stepName)} of run ${runId} waits for no decision; only an effect in doubt can be decided, while its run waits`,
        { runId },
      )
    const said = typeof decision === 'string' ? decision : Object.keys(decision)[0]
    const entry = audited(this.#deps.env, options, 'run:decide', runId, { step: stepName, decision: said })
    await this.#send(runId, decisionName(stepName, open.generation), decision, entry)
  }

  /** Removes runs that ended longer ago than that, with all that belongs to them; returns how many. */
  async purge(options: PurgeOptions): Promise<number> {
    checkKeys('purge', options, PURGE_OPTIONS)
    const { olderThan, status, limit = Number.POSITIVE_INFINITY } = options
    const olderThanMs = durationMs('olderThan', olderThan)
    const statuses = status === undefined ? TERMINAL_STATUSES : [status].flat()
    const wrong = statuses.find((one) => !isTerminal(one))
    if (wrong !== undefined)
      throw new DurablyError('invalid_argument', `status must be one of ${TERMINAL_STATUSES.join(', ')}, got ${JSON.stringify(wrong)}`)
    if (!(limit > 0 && (limit === Number.POSITIVE_INFINITY || Number.isSafeInteger(limit))))
      throw new DurablyError('invalid_argument', `limit must be a positive whole number, got ${limit}`)
    for (let purged = 0; ; ) {
      const page = Math.min(PURGE_PAGE, limit - purged)
      const gone = await this.#deps.runs.purge({ statuses, olderThanMs, limit: page })
      purged += gone
      // Also after a page that was not full: a removed run may have been the reason to keep others.
      if (gone === 0 || purged >= limit) return purged
    }
  }

  /** Sends a value to a run that waits for it, or will; the first under a name wins. If `jobName` is given, the run must be one of that job. */
  async signal(runId: string, name: string, value: unknown, options: SignalOptions = {}, jobName?: string): Promise<void> {
    checkSignalName(name)
    checkKeys('signal', options, SIGNAL_OPTIONS)
    const { runs, jobs } = this.#deps
    const { idempotencyKey } = options
    const key = idempotencyKey === undefined ? undefined : JSON.stringify([runId, name, checkName('idempotencyKey', idempotencyKey)])
    // The run is read only if a job declares signals, or the caller named the job.
    if (jobName !== undefined || Array.from(jobs.values()).some(({ signals }) => signals))
      await checkSignal(jobs, found(await runs.get(runId), runId), name, value, jobName)
    const entry = audited(this.#deps.env, options, 'run:signal', runId, { name })
    await this.#send(runId, name, value, entry, key)
  }

  async #send(runId: string, name: string, value: unknown, entry: Audited, id = this.#deps.env.id()): Promise<void> {
    const { env, codec, signals } = this.#deps
    const row = { id, runId, name, value: codec.encode(value, `signal ${JSON.stringify(name)}`), createdAt: iso(env.wall()) }
    switch (found(await signals.send(row, entry), runId)) {
      case 'ended':
        throw new DurablyError('run_ended', `run ${runId} has ended; nobody waits for signal ${JSON.stringify(name)}`, { runId })
      case 'taken':
        throw new DurablyError('signal_taken', `run ${runId} already has a signal ${JSON.stringify(name)}; the first one counts`, { runId })
    }
  }

  /** Removes a run that has ended, with its steps, logs and events; its idempotency key is free again. */
  async deleteRun(id: string, options?: CommandOptions): Promise<void> {
    // The entry must say whose run it was: nothing else will.
    const jobName = options?.actor === undefined ? undefined : (await this.#deps.runs.get(id))?.jobName
    const command = this.#command('run:delete', id, options, jobName === undefined ? null : { jobName })
    const { outcome, status } = sameVersion(found(await this.#store.delete(id, command), id), id, options)
    if (outcome === 'deleted') return
    throw new DurablyError('run_active', `run ${id} ${await this.#whyItStays(id, status)}`, { runId: id })
  }

  /** The options, checked, as a store takes them. */
  #command(action: 'run:retry' | 'run:cancel' | 'run:delete', id: string, options?: CommandOptions, detail?: object | null): StoreCommand {
    checkVersion(options)
    const { actor, ...condition } = options ?? {}
    return { ...condition, ...audited(this.#deps.env, { actor }, action, id, detail) }
  }

  async #whyItStays(id: string, status: RunStatus): Promise<string> {
    const { runs } = this.#deps
    if (!isTerminal(status)) return `is ${status}; cancel it and wait for its end, then delete it`
    const parent = await runs.get((await runs.get(id))?.parentRunId ?? '')
    return parent && !isFinal(parent.status)
      ? `was triggered by run ${parent.id}, which is ${parent.status} and may ask for it; delete that one first, or wait for its end`
      : 'was cancelled, and a run that it triggered has not ended; cancel it again, and wait'
  }
}

function found<T>(answer: T | null, id: string): T {
  if (answer === null) throw new DurablyError('run_not_found', `there is no run ${JSON.stringify(id)}`, { runId: id })
  return answer
}

/** The column has 32 bits on some databases. */
const VERSION_MAX = 2 ** 31 - 1

function checkVersion(options: CommandOptions = {}): void {
  checkKeys('cancel, retry or deleteRun', options, COMMAND_OPTIONS)
  const { ifVersion = 0 } = options
  if (!(Number.isInteger(ifVersion) && ifVersion >= 0 && ifVersion <= VERSION_MAX))
    throw new DurablyError('invalid_argument', `ifVersion must be the version of a run, a whole number, got ${ifVersion}`)
}

function sameVersion<T extends { outcome: string }>(
  answer: T | Changed,
  id: string,
  { ifVersion }: CommandOptions = {},
): Exclude<T, Changed> {
  if (!isChanged(answer)) return answer as Exclude<T, Changed>
  throw versionMismatch(`run ${id}`, { expected: ifVersion ?? 0, actual: answer.version }, { runId: id })
}

function isChanged(answer: { outcome: string }): answer is Changed {
  return answer.outcome === 'changed'
}
