// Letters — what attempts to write a letter really had, against what was kept, recorded and seen of it.
import { grouped } from '../../../../packages/durably/dist/testing/invariants/history.js'
import type { Violation } from '../../../../packages/durably/dist/testing/invariants/index.js'
import type { OutsideEvidence } from './verdict.ts'

interface Attempt {
  attempt: string
  runId: string
  given: string
  calledAt: number
  stillMs: number
  /** Everything, from the beginning of the letter. */
  text: string
  checkpoints: { text: string; acknowledgedAt: number | null }[]
}

/** I20, I21, I22. */
export function lettersAreWhole(evidence: OutsideEvidence): Violation[] {
  const attempts = attemptsOf(evidence)
  const byRun = grouped(attempts, ({ runId }) => runId)
  return [...checkpointsHold(byRun, evidence), ...textsAreReal(byRun, evidence)]
}

function attemptsOf({ notes }: OutsideEvidence): Attempt[] {
  const attempts = new Map<string, Attempt>()
  for (const { at, note } of notes) {
    if (note.kind === 'letter') attempts.set(note.attempt, { ...note, text: note.given, checkpoints: [] })
    if (note.kind === 'line') of(note).text += note.text
    if (note.kind === 'asks for checkpoint') of(note).checkpoints.push({ text: note.text, acknowledgedAt: null })
    if (note.kind === 'has checkpoint') Object.assign(of(note).checkpoints.at(-1) ?? {}, { acknowledgedAt: at })
  }
  return [...attempts.values()]

  function of({ attempt }: { attempt: string }): Attempt {
    const known = attempts.get(attempt)
    if (!known) throw new Error(`the ledger has no beginning of ${attempt}`)
    return known
  }
}

/** I22: a function that is called after a checkpoint was acknowledged goes on from it or from a later one that was made. */
function checkpointsHold(byRun: Map<string, Attempt[]>, { graceMs, stoodStill }: OutsideEvidence): Violation[] {
  const violations: Violation[] = []
  for (const [runId, attempts] of byRun) {
    const made = attempts.flatMap(({ checkpoints }) => checkpoints)
    for (const { attempt, given, calledAt, stillMs } of attempts) {
      const broken = (what: string) => violations.push({ invariant: 'I22', runId, what: `${attempt} ${what}` })
      if (given !== '' && !made.some(({ text }) => text === given)) broken(`was given ${JSON.stringify(given)}, which is no checkpoint`)
      const lost = made.find(
        ({ text, acknowledgedAt }) => acknowledgedAt !== null && acknowledgedAt + graceMs < calledAt && !given.startsWith(text),
      )
      if (lost && !stoodStill(stillMs))
        broken(`was given ${JSON.stringify(given)}, though ${JSON.stringify(lost.text)} was acknowledged before`)
    }
  }
  return violations
}

/** I20, I21: a follower saw what one attempt had, and in the end all of what was recorded. */
function textsAreReal(byRun: Map<string, Attempt[]>, { notes, rows, logs }: OutsideEvidence): Violation[] {
  const recorded = new Map(
    rows.steps.filter(({ name, status }) => name === 'letter' && status === 'completed').map(({ runId, output }) => [runId, output]),
  )
  const violations: Violation[] = []
  const look = (runId: string, text: string, isDone: boolean, who: string) => {
    const broken = (invariant: string, what: string) =>
      violations.push({ invariant, runId, what: `${who} ${JSON.stringify(text)}, ${what}` })
    if (!byRun.get(runId)?.some((attempt) => attempt.text.startsWith(text))) broken('I21', 'which no attempt had')
    if (isDone && JSON.stringify(text) !== recorded.get(runId)) broken('I20', `recorded is ${recorded.get(runId) ?? 'nothing'}`)
  }
  for (const { note, process } of notes) {
    if (note.kind === 'sees') look(note.runId, note.text, note.isDone, `${process} saw`)
  }
  for (const [runId, { text, isDone }] of logs) look(runId, text, isDone, 'the log says')
  for (const [runId, output] of recorded) look(runId, JSON.parse(output ?? '""'), true, 'the record says')
  return violations
}
