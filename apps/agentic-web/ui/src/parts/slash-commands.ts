// Commands that begin with a slash, typed into the message box.
export const COMMANDS = [
  { name: '/new', what: 'Begin a new session' },
  { name: '/cancel', what: 'Stop the answer' },
  { name: '/clear', what: 'Empty the view; the session keeps its messages' },
  { name: '/help', what: 'Show these commands' },
] as const

export type CommandName = (typeof COMMANDS)[number]['name']

export function commandsFor(text: string): readonly (typeof COMMANDS)[number][] {
  return /^\/\w*$/.test(text) ? COMMANDS.filter(({ name }) => name.startsWith(text)) : []
}

/** Only a single word is a command, so a message may begin with a slash. Its beginning is enough if no other one begins so. */
export function commandOf(text: string): CommandName | 'unknown' | undefined {
  const word = text.trim().toLowerCase()
  if (!/^\/[a-z]+$/.test(word)) return undefined
  const [command, other] = commandsFor(word)
  return command && !other ? command.name : 'unknown'
}
