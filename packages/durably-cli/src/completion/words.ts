// What a shell can complete, from the commands themselves.
import type { Command } from '../command.ts'
import { optionsOf } from '../shared-options.ts'

export interface CompletedCommand {
  name: string
  summary: string
  options: { name: string; short: string | undefined; what: string; takesValue: boolean; choices: readonly string[] }[]
  /** What its first argument can be. */
  words: readonly string[]
}

export function completedCommands(commands: readonly Command[]): CompletedCommand[] {
  return commands.map((command) => ({
    name: command.name,
    summary: command.summary,
    options: Object.entries(optionsOf(command)).map(([name, { short, what, value, choices = [] }]) => ({
      name,
      short,
      what,
      takesValue: value !== undefined,
      choices,
    })),
    words: command.args?.[0]?.choices ?? [],
  }))
}
