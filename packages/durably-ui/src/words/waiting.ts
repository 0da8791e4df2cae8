// What a run waits for, as one sentence for people.
import type { WaitingFor } from '@coji/durably/client'
import { momentInWords } from './duration.ts'

export function waitInWords(wait: WaitingFor, now: number): string {
  switch (wait.kind) {
    case 'delay':
      return `It starts ${momentInWords(wait.until, now)}.`
    case 'retry':
      return `Its last attempt failed; it is tried again ${momentInWords(wait.until, now)}.`
    case 'sleep':
      return `It sleeps in step “${wait.step}” and goes on ${momentInWords(wait.until, now)}.`
    case 'step retry':
      return `Step “${wait.step}” failed and is tried again ${momentInWords(wait.until, now)}.`
    case 'signal':
      return `It waits for the signal “${wait.name}”${wait.until === null ? '' : `, and gives up ${momentInWords(wait.until, now)}`}.`
    case 'decision':
      return `Its worker was lost during step “${wait.step}”, which must not run twice. Somebody must say what became of it.`
    case 'child':
      return `It waits for the run that step “${wait.step}” invoked${wait.jobName === null ? '' : `, of job “${wait.jobName}”`}.`
    case 'key':
      return 'Another run holds its concurrency key.'
    case 'worker':
      return 'It is due, but no worker of the answering process executes its job.'
    case 'slot':
      return 'It is due and waits for the next free worker.'
  }
}
