// The program: finds the command, lets it run, and turns what it throws into words and an exit code.
import { DurablyError } from '@coji/durably'
import { COMMANDS } from './commands/index.ts'
import { CliError, EXIT, UsageError } from './exit-code.ts'
import { commandHelp, generalHelp } from './help.ts'
import { suggestion } from './nearest.ts'
import type { Io } from './output/io.ts'
import { paint } from './output/paint.ts'
import { printableLines } from './output/printable.ts'
import { parse } from './parse.ts'
import { exitCodeOf, remedyOf } from './store-errors.ts'
import { version } from './version.ts'

/** Executes a command line, without the name of the program, and returns the exit code. */
export async function main(words: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = words
  if (name === '--version' || name === '-v') return said(io, version())
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') return help(io, rest[0])
  const command = COMMANDS.find((command) => command.name === name)
  if (!command) return wrongCommand(io, name)
  try {
    const given = parse(command, rest)
    if (given.has('help')) return said(io, commandHelp(io, command))
    return (await command.run(given, io)) ?? EXIT.done
  } catch (error) {
    return failed(io, name, error)
  }
}

function said(io: Io, text: string): number {
  io.out(text)
  return EXIT.done
}

function help(io: Io, name: string | undefined): number {
  if (name === undefined) return said(io, generalHelp(io, COMMANDS))
  const command = COMMANDS.find((command) => command.name === name)
  return command ? said(io, commandHelp(io, command)) : wrongCommand(io, name)
}

function wrongCommand(io: Io, name: string): number {
  const names = COMMANDS.map(({ name }) => name)
  io.err(`durably: there is no command ${JSON.stringify(name)}; ${suggestion(name, names)}`)
  return EXIT.usage
}

function failed(io: Io, name: string, error: unknown): number {
  const say = (message: string) => io.err(`${paint(io, 'red', `durably ${name}:`)} ${printableLines(message)}`)
  if (error instanceof UsageError) {
    say(`${error.message}\n  durably ${name} --help shows how it is used`)
    return EXIT.usage
  }
  if (error instanceof CliError) {
    say(error.message)
    return error.exitCode
  }
  if (error instanceof DurablyError) {
    const remedy = remedyOf(error)
    say(error.message + (remedy ? `\n  ${remedy}` : ''))
    return exitCodeOf(error)
  }
  // A bug of the program, not of the person at the keyboard.
  say(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return EXIT.refused
}
