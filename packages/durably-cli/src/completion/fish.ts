import type { CompletedCommand } from './words.ts'

export function fishCompletion(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ name, summary, options, words }) => {
    const after = `-n '__fish_seen_subcommand_from ${name}'`
    return [
      `complete -c durably -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
      ...(words.length > 0 ? [`complete -c durably ${after} -f -a ${quoted(words.join(' '))}`] : []),
      ...options.map(({ name, short, what, takesValue, choices }) =>
        [
          `complete -c durably ${after} -l ${name}`,
          ...(short ? [`-s ${short}`] : []),
          ...(takesValue ? ['-r'] : []),
          ...(choices.length > 0 ? [`-f -a ${quoted(choices.map((choice) => choice.replaceAll(' ', '\\ ')).join(' '))}`] : []),
          `-d ${quoted(what)}`,
        ].join(' '),
      ),
    ]
  })
  return lines.join('\n')
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
