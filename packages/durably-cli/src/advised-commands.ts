// AdvisedCommands — commands that somebody is told to give: they can be pasted, and lead to the same database.
import type { Run } from '@coji/durably'
import type { Place } from './place.ts'
import { fileThatDefines, MESSAGE, RESULT, VALUE } from './placeholders.ts'
import { shellWord } from './shell-word.ts'
import { triggerAgain } from './trigger-again.ts'

export class AdvisedCommands {
  readonly #place: Pick<Place, 'options'>

  constructor(place: Pick<Place, 'options'>) {
    this.#place = place
  }

  explain(id: string): string {
    return this.#command('explain', [id])
  }

  run(id: string): string {
    return this.#command('run', [id])
  }

  retry(id: string): string {
    return this.#command('retry', [id])
  }

  cancel(id: string): string {
    return this.#command('cancel', [id])
  }

  signal(id: string, name: string): string {
    return this.#command('signal', [id, name, VALUE])
  }

  /** One a line, each after what it means. */
  decide(id: string, step: string): string[] {
    const command = (option: string) => this.#command('decide', [id, step], option)
    return [
      `it took place:          ${command(`--done ${shellWord(RESULT)}`)}`,
      `it failed:              ${command(`--failed ${shellWord(MESSAGE)}`)}`,
      `it did not take place:  ${command('--run-again')}`,
    ]
  }

  runsWithLabel(label: string): string {
    return this.#command('runs', [], `--label ${shellWord(label)}`)
  }

  purge(olderThan: string): string {
    return this.#command('purge', [], `--older-than ${olderThan}`)
  }

  migrate(): string {
    return this.#command('migrate', [])
  }

  /** Which file that is, the reader knows. */
  worker(jobNames: readonly string[]): string {
    return this.#command('worker', [fileThatDefines(jobNames)])
  }

  /** The work of a run, for another job. */
  trigger(jobName: string, run: Run): string {
    return this.#command('trigger', [jobName], triggerAgain(run))
  }

  #command(name: string, args: readonly string[], option = ''): string {
    const words = args.map(shellWord)
    const options = [option, this.#place.options]
    // What begins with a dash would be read as an option.
    const rest = args.some((arg) => arg.startsWith('-')) ? [...options, '--', ...words] : [...words, ...options]
    return ['durably', name, ...rest].filter(Boolean).join(' ')
  }
}
