// ExplainRun — follows what a run waits for, from run to run, until the one that everything waits for.
//   E1. Only runs that the caller may see are named; the chain ends before one that it may not.
//   E2. Each run is visited once, and the chain has an end.
import { DurablyError } from '../../model/errors.ts'
import type { Run, RunRow } from '../../model/run.ts'
import type { WaitingFor } from '../../model/waiting-for.ts'
import type { RunStore } from '../../store/runs.ts'
import type { StepStore } from '../../store/steps.ts'
import { diagnose, type Finding } from './diagnose.ts'
import type { Diagnosis, ExplainedRun, Explanation, FailedAttempts, ProcessFacts } from './explanation.ts'
import { failedAttempts } from './failed-attempts.ts'
import { adviceOf, textOf } from './words.ts'

const CHAIN_MAX = 50

export interface ExplainDeps {
  runs: RunStore
  steps: StepStore
  env: { wall(): number }
  process: ProcessFacts
  /** The run as the caller may see it; null when it may not. */
  see: (row: RunRow) => Run | null | Promise<Run | null>
}

export interface Link extends Finding {
  run: Run
  row: RunRow
  failedAttempts: FailedAttempts | null
}

export async function explainRun(deps: ExplainDeps, runId: string): Promise<Explanation> {
  const { runs, steps, env, process, see } = deps
  const chain: Link[] = []
  const visited = new Set<string>()
  let row = await runs.get(runId)
  for (let run = row && (await see(row)); row && run; run = row && (await see(row))) {
    visited.add(row.id)
    const found = await diagnose(runs, row, process, env.wall())
    chain.push({ run, row, failedAttempts: await failedAttempts(steps, row, found.waitingFor[0]), ...found })
    row = found.next
    if (row && (visited.has(row.id) || chain.length === CHAIN_MAX)) row = null
  }
  const last = chain.at(-1)
  if (!last) throw new DurablyError('run_not_found', `there is no run ${JSON.stringify(runId)}`, { runId })
  if (row) hide(last)
  return explanationOf(chain, last, process)
}

/** The next run is none of the caller's business (E1). */
function hide(link: Link): void {
  const hidden: Pick<Diagnosis, 'actor' | 'remedy'> = { actor: 'reader', remedy: { do: 'ask' } }
  Object.assign(link, hidden, { waitingFor: link.waitingFor.map(unnamed) })
}

function unnamed(wait: WaitingFor): WaitingFor {
  if (wait.kind === 'child') return { ...wait, runId: null, jobName: null }
  return wait.kind === 'key' ? { kind: 'key', heldBy: null } : wait
}

function explanationOf(chain: readonly Link[], { cause, since, actor, remedy }: Link, process: ProcessFacts): Explanation {
  const runs = chain.map((link) => explainedRun(link, process))
  const advice = adviceOf(chain)
  return { chain: runs, ...{ cause, since, actor, remedy }, advice, text: [...runs.map(({ text }) => text), advice].join('\n') }
}

function explainedRun(link: Link, process: ProcessFacts): ExplainedRun {
  const { id: runId, jobName, status, phase, version } = link.run
  const { cause, since, waitingFor, failedAttempts } = link
  return { runId, jobName, status, phase, version, cause, since, waitingFor, failedAttempts, text: textOf(link, process) }
}
