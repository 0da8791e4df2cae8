// Why a run does not go on and what helps, in words. The engine's own text names the calls of a program; here there are buttons.
import type { ExplainedRun, Explanation, Run } from '@coji/durably/client'
import { momentInWords } from './duration.ts'
import { runName } from './run-name.ts'
import { waitInWords } from './waiting.ts'

type Explained = Pick<Explanation, 'chain' | 'cause' | 'actor' | 'remedy'>

/** The run that somebody has to act on, if it is not the first of the chain. */
export function runElsewhere({ chain }: Pick<Explanation, 'chain'>): ExplainedRun | null {
  return chain.length > 1 ? (chain.at(-1) ?? null) : null
}

export function causeInWords(run: Pick<Run, 'status' | 'error'>, { chain, cause }: Explained, now: number): string {
  if (run.status === 'failed') return run.error ?? 'It failed.'
  const [own] = chain
  switch (own?.cause ?? cause) {
    case 'unknown job':
      return `It is due, but the server that answers this page knows no job of the name “${own?.jobName}”.`
    case 'lease over':
      return 'Its worker is silent, and its lease is over.'
    case 'confirming':
      return 'Its worker is silent and may come back.'
    case 'cancelling':
      return 'It was asked to stop, and its function has not ended yet.'
    case 'assigned':
      return 'A leader has chosen its worker, which has not started it yet.'
    default:
      return own?.waitingFor[0] ? waitInWords(own.waitingFor[0], now) + attemptsInWords(own) : `It does not go on: ${cause}.`
  }
}

function attemptsInWords({ failedAttempts: failed }: ExplainedRun): string {
  if (!failed) return ''
  return failed.count === 1
    ? ` It failed with “${failed.error}”.`
    : ` It failed ${failed.count} times, the last time with “${failed.error}”.`
}

/** What somebody can do; at the end of the chain of runs, if it has several. The buttons are those of the page of the first run. */
export function remedyInWords(explained: Explained, now: number): string {
  const { chain, cause, actor, remedy } = explained
  const other = runElsewhere(explained)
  switch (remedy.do) {
    case 'wait':
      if (remedy.until === null) return 'Nobody has to act.'
      if (actor === 'time' && chain.some(({ cause }) => cause === 'key'))
        return `It goes on by itself when that run has ended, not before ${new Date(remedy.until).toLocaleString()} (${momentInWords(remedy.until, now)}). To free the key sooner, cancel that run, which ends it.`
      if (cause === 'retry' || cause === 'step retry')
        return `It is tried again ${momentInWords(remedy.until, now)}; nobody has to act unless the error stays.`
      return `Nobody has to act: it goes on ${momentInWords(remedy.until, now)}.`
    case 'signal':
      return `Somebody must send the signal “${remedy.name}”${other ? ` to ${nameOf(other)}` : ''}, with the button “${signalButton(other)}”.`
    case 'decide':
      return `Somebody must find out what became of “${remedy.step}”${other ? ` of ${nameOf(other)}` : ''}, and say so with the button “${decideButton(other)}”.`
    case 'start a worker':
      if (cause === 'unknown job')
        return `If the name is right, start a worker that has the job “${remedy.jobName}”, unless another process has it. If it is misspelt, cancel the run and trigger the right job.`
      return `Unless another process does so, start a worker that has the job “${remedy.jobName}”.`
    case 'retry':
      return 'When its reason is gone, retry it, with the button “Retry…”.'
    case 'ask':
      return 'Ask somebody who may read the run that it waits for.'
    case 'nothing':
      return 'There is nothing to do.'
  }
}

export function signalButton(other: ExplainedRun | null): string {
  return other ? `Signal ${other.jobName}…` : 'Signal…'
}

export function decideButton(other: ExplainedRun | null): string {
  return other ? `Decide about ${other.jobName}…` : 'Decide…'
}

export function nameOf({ runId, jobName }: ExplainedRun): string {
  return runName({ id: runId, jobName })
}
