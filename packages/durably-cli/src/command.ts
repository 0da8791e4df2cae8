// Command — one word of the command line: what it takes, what it does, and how it is used. Help, errors and shell completion are made from it.
import type { Given } from './given.ts'
import type { Io } from './output/io.ts'

export interface Option {
  /** The letter for `-x`. */
  short?: string
  /** What the value is, as help shows it; without it the option is a switch. */
  value?: string
  /** May be given several times. */
  many?: true
  /** The words that it takes. */
  choices?: readonly string[]
  what: string
}

export interface Argument {
  name: string
  what: string
  optional?: true
  /** Takes all that are left; only the last one may. */
  many?: true
  choices?: readonly string[]
}

export interface Command {
  name: string
  summary: string
  /** More than the summary says, for its own help. */
  about?: string
  args?: readonly Argument[]
  options?: Readonly<Record<string, Option>>
  examples: readonly string[]
  /** True for commands that need no database. */
  withoutDatabase?: true
  /** Returns the exit code; nothing is 0. */
  run(given: Given, io: Io): Promise<number | undefined>
}
