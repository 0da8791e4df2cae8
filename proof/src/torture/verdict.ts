// What the rows and the ledger say together, in the end and while the storm goes on.
import { checkInvariants, type History, readRows, type Violation } from '../../../packages/durably/dist/testing/invariants/index.js'
import type { Faults } from './faults.ts'
import { type LedgerReading, readLedger } from './ledger.ts'
import type { Place } from './place.ts'

export type Rows = Awaited<ReturnType<typeof readRows>>

export interface Evidence {
  place: Place
  faults: Faults
  ledgerFolder: string
  diedAt: ReadonlyMap<string, number>
  maxRecoveries: number
}

export interface Judged {
  rows: Rows
  ledger: LedgerReading
  violations: Violation[]
}

/** Once everything has come to rest. */
export async function judge(evidence: Evidence): Promise<Judged> {
  const { rows, ledger, history } = await gather(evidence)
  const violations = [
    ...checkInvariants(history),
    ...outputsAreRecords(rows),
    ...failuresAreThrown(rows),
    ...seenIsRecorded(rows, ledger),
    ...(await evidence.place.integrity()),
  ]
  return { rows, ledger, violations }
}

/** What is a violation at any moment: not that something is unfinished, nor what the ledger knows before the rows were read. */
export const AT_ANY_MOMENT: ReadonlySet<string> = new Set(['I1a', 'I1b', 'I2b', 'I2c', 'I3', 'I4', 'I6', 'I7', 'I12', 'I13'])

export async function judgeSoFar(evidence: Evidence): Promise<Violation[]> {
  const { history } = await gather(evidence)
  return checkInvariants(history).filter(({ invariant }) => AT_ANY_MOMENT.has(invariant))
}

async function gather({ place, ledgerFolder, diedAt, maxRecoveries }: Evidence) {
  const rows = await place.atOneMoment(readRows)
  const ledger = readLedger(ledgerFolder, diedAt)
  const { executions, effects, acknowledged } = ledger
  const history: History = {
    ...rows,
    ledger: { executions, effects },
    acknowledged,
    maxRecoveries,
    faultFree: false,
    mayStartLate: true,
  }
  return { rows, ledger, history }
}

/** I9: nothing here but its own code makes a run fail. */
export function failuresAreThrown({ runs }: Rows): Violation[] {
  return runs
    .filter(({ status, reason }) => status === 'failed' && reason !== 'error')
    .map(({ id, reason, error }) => ({ invariant: 'I9', runId: id, what: `failed of ${reason}: ${error}` }))
}

/** I7, I11: a completed run's output is made of exactly the values that its steps recorded, whichever worker saw them first. */
function outputsAreRecords({ runs, steps }: Rows): Violation[] {
  const recorded = new Map<string, string[]>()
  for (const { runId, status, output } of steps) {
    if (status === 'completed' && output !== null) recorded.set(runId, [...(recorded.get(runId) ?? []), JSON.parse(output)])
  }
  return runs
    .filter(({ id, status, output }) => status === 'completed' && JSON.stringify(recorded.get(id)) !== output)
    .map(({ id, output }) => ({ invariant: 'I11', runId: id, what: `its output ${output} is not what its steps recorded` }))
}

/** I2b, I11: what a step returned to its worker is what its record says. */
export function seenIsRecorded({ steps }: Pick<Rows, 'steps'>, { seen }: Pick<LedgerReading, 'seen'>): Violation[] {
  const recorded = new Map(
    steps.filter(({ status }) => status === 'completed').map((step) => [`${step.runId}/${step.name}`, step.output ?? 'null']),
  )
  return seen
    .filter(({ runId, step, value }) => recorded.get(`${runId}/${step}`) !== JSON.stringify(value))
    .map(({ runId, step, value }) => ({
      invariant: 'I11',
      runId,
      what: `step ${step} returned ${value}, its record holds another value`,
    }))
}
