import type { CompletedCommand } from './words.ts'

/** Also for zsh, which understands it after `bashcompinit`. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name).join(' ')
  const values = commands.flatMap(({ name, options }) =>
    options.flatMap(({ name: option, short, choices }) =>
      choices.length === 0
        ? []
        : [
            `    ${[`--${option}`, ...(short ? [`-${short}`] : [])].map((word) => `'${name} ${word}'`).join('|')}) words=${quoted(choices.map(escaped).join(' '))} ;;`,
          ],
    ),
  )
  const words = commands.map(
    ({ name, options, words }) => `      ${name}) words=${quoted([...words, ...options.map(({ name }) => `--${name}`)].join(' '))} ;;`,
  )
  return `_durably() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${names} help' -- "$current"))
    return
  fi
  case "$command $before" in
${values.join('\n')}
    *) case "$command" in
${words.join('\n')}
      help) words='${names}' ;;
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _durably durably`
}

export function zshCompletion(commands: readonly CompletedCommand[]): string {
  return `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bashCompletion(commands)}`
}

function escaped(word: string): string {
  return word.replaceAll(' ', '\\ ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
