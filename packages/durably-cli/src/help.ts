// Help, made from the commands themselves.
import type { Argument, Command, Option } from './command.ts'
import type { Io } from './output/io.ts'
import { paint } from './output/paint.ts'
import { optionsOf } from './shared-options.ts'

export function generalHelp(io: Io, commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return [
    `${paint(io, 'bold', 'durably')} <command> [options]`,
    '',
    ...commands.map(({ name, summary }) => `  ${paint(io, 'cyan', name.padEnd(width))}  ${summary}`),
    '',
    'durably runs --label order=4711 finds a run by a label; durably explain <id> says why it does not go on.',
    'durably <command> --help shows the options of a command, with examples.',
  ].join('\n')
}

export function commandHelp(io: Io, command: Command): string {
  const { name, summary, about, args = [], examples } = command
  const usage = ['durably', name, ...args.map(shownArgument), '[options]'].join(' ')
  const lines = [
    paint(io, 'bold', usage),
    '',
    summary,
    ...(about ? ['', about] : []),
    ...section(
      'Arguments',
      args.map(({ name, what, choices }) => [`<${name}>`, what + shownChoices(choices)]),
    ),
    ...section('Options', Object.entries(optionsOf(command)).map(optionLine)),
    '',
    'Examples',
    ...examples.map((example) => `  ${paint(io, 'cyan', example)}`),
  ]
  return lines.join('\n')
}

function section(title: string, rows: readonly (readonly [string, string])[]): string[] {
  if (rows.length === 0) return []
  const width = Math.max(...rows.map(([left]) => left.length))
  return ['', title, ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)]
}

function optionLine([name, { short, value, what, choices, many }]: [string, Option]): readonly [string, string] {
  const left = `${short ? `-${short}, ` : ''}--${name}${value ? ` <${value}>` : ''}`
  return [left, what + shownChoices(choices) + (many ? '; may be repeated' : '')]
}

function shownChoices(choices: readonly string[] | undefined): string {
  return choices ? `: ${choices.join(', ')}` : ''
}

function shownArgument({ name, optional, many }: Argument): string {
  const shown = many ? `<${name}>...` : `<${name}>`
  return optional ? `[${shown}]` : shown
}
