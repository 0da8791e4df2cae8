/** What the process ends with, for scripts. */
export const EXIT = {
  done: 0,
  /** It was refused, or what was checked is not as it should be. */
  refused: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The database cannot be reached, or is not one that this version can use. */
  database: 3,
} as const

/** An error of the person at the keyboard: it is shown without a stack. */
export class UsageError extends Error {}

/** An error that is shown without a stack, and is not about the command line. */
export class CliError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number = EXIT.refused) {
    super(message)
    this.exitCode = exitCode
  }
}
