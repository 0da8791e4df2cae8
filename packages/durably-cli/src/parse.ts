// Reads a command line by what its command takes. Node's own parser splits it; what it lets through is checked here.
import { parseArgs } from 'node:util'
import type { Argument, Command, Option } from './command.ts'
import { UsageError } from './exit-code.ts'
import { Given } from './given.ts'
import { suggestion } from './nearest.ts'
import { isPlaceholder } from './placeholders.ts'
import { optionsOf } from './shared-options.ts'

export function parse(command: Command, words: readonly string[]): Given {
  const options = optionsOf(command)
  const { tokens } = parseArgs({ args: [...words], options: forNode(options), strict: false, allowPositionals: true, tokens: true })
  const given = new Map<string, string[]>()
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const value = checkOption(token.name, token.rawName, token.value, options)
    given.set(token.name, [...(given.get(token.name) ?? []), value])
  }
  for (const [name, values] of given)
    if (values.length > 1 && !options[name]?.many) throw new UsageError(`--${name} was given ${values.length} times; once is right`)
  return new Given(given.has('help') ? new Map() : argumentsOf(command, positionals), given)
}

function forNode(options: Readonly<Record<string, Option>>) {
  const entries = Object.entries(options).map(([name, { short, value }]) => [
    name,
    { type: value === undefined ? ('boolean' as const) : ('string' as const), multiple: true, ...(short && { short }) },
  ])
  return Object.fromEntries(entries) as Record<string, { type: 'boolean' | 'string'; multiple: true; short?: string }>
}

function checkOption(name: string, rawName: string, value: string | undefined, options: Readonly<Record<string, Option>>): string {
  const option = Object.hasOwn(options, name) ? options[name] : undefined
  if (!option) {
    const known = Object.keys(options).map((known) => `--${known}`)
    throw new UsageError(`there is no option ${JSON.stringify(rawName)}; ${suggestion(rawName, known)}`)
  }
  if (option.value === undefined) {
    if (value !== undefined) throw new UsageError(`--${name} takes no value, got ${JSON.stringify(value)}`)
    return ''
  }
  if (value === undefined || value === '') throw new UsageError(`--${name} needs ${option.value}`)
  refusePlaceholder(`--${name}`, value)
  if (option.choices && !option.choices.includes(value))
    throw new UsageError(`--${name} ${JSON.stringify(value)} is not known; ${suggestion(value, option.choices)}`)
  return value
}

function argumentsOf(command: Command, given: readonly string[]): Map<string, string[]> {
  const known = command.args ?? []
  const values = new Map<string, string[]>()
  let rest = [...given]
  for (const argument of known) {
    const taken = argument.many ? rest : rest.slice(0, 1)
    rest = rest.slice(taken.length)
    if (taken.length === 0 && !argument.optional) throw new UsageError(`<${argument.name}> is missing: ${argument.what}`)
    for (const value of taken) checkChoice(argument, value)
    values.set(argument.name, taken)
  }
  if (rest.length > 0) throw new UsageError(`${JSON.stringify(rest[0])} is one argument too many`)
  return values
}

function checkChoice({ name, choices }: Argument, value: string): void {
  if (value === '') throw new UsageError(`<${name}> is empty`)
  refusePlaceholder(`<${name}>`, value)
  if (choices && !choices.includes(value))
    throw new UsageError(`<${name}> ${JSON.stringify(value)} is not known; ${suggestion(value, choices)}`)
}

/** From a command that was printed and pasted. */
function refusePlaceholder(what: string, value: string): void {
  if (isPlaceholder(value))
    throw new UsageError(`${what} is ${JSON.stringify(value)}, which stands for a value of yours; put that in its place`)
}
