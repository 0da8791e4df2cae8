// Why a run does not go on and what helps, in words. The engine's own text names the calls of a program; here there are buttons.
import type { Explanation, Run } from '@coji/durably/client'
import { momentInWords } from './duration.ts'
import { waitInWords } from './waiting.ts'

type Explained = Pick<Explanation, 'cause' | 'actor' | 'remedy'> & {
  chain: readonly Pick<Explanation['chain'][number], 'waitingFor' | 'cause' | 'failedAttempts'>[]
}

export function causeInWords(run: Pick<Run, 'status' | 'error'>, { chain, cause }: Explained, now: number): string {
  if (run.status === 'failed') return run.error ?? 'It failed.'
  const [own] = chain
  switch (own?.cause ?? cause) {
    case 'unknown job':
      return 'It is due, but the server that was asked knows no job of its name.'
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

function attemptsInWords({ failedAttempts: failed }: Explained['chain'][number]): string {
  if (!failed) return ''
  return failed.count === 1
    ? ` It failed with “${failed.error}”.`
    : ` It failed ${failed.count} times, the last time with “${failed.error}”.`
}

/** What somebody can do; at the end of the chain of runs, if it has several. */
export function remedyInWords({ chain, cause, actor, remedy }: Explained, now: number): string {
  switch (remedy.do) {
    case 'wait':
      if (remedy.until === null) return 'Nobody has to act.'
      if (actor === 'time' && chain.some(({ cause }) => cause === 'key'))
        return `It goes on by itself when that run has ended, not before ${new Date(remedy.until).toLocaleString()} (${momentInWords(remedy.until, now)}). To free the key sooner, cancel that run, which ends it.`
      if (cause === 'retry' || cause === 'step retry')
        return `It is tried again ${momentInWords(remedy.until, now)}; nobody has to act unless the error stays.`
      return `Nobody has to act: it goes on ${momentInWords(remedy.until, now)}.`
    case 'signal':
      return `Somebody must send the signal “${remedy.name}”.`
    case 'decide':
      return `Somebody must find out what became of “${remedy.step}”, and decide.`
    case 'start a worker':
      return `Unless another process does so, start a worker that has the job “${remedy.jobName}”.`
    case 'retry':
      return 'When its reason is gone, retry it.'
    case 'ask':
      return 'Ask somebody who may read the run that it waits for.'
    case 'nothing':
      return 'There is nothing to do.'
  }
}
