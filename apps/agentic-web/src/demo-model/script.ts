// The scripted model: it finds a known form of request in the last message, lets a tool do the work and reports what the tool returned. It
// understands nothing, and says so.
import { type Answer, call, type Piece, say } from './answer.ts'
import { type CountAttempts, commandAnswer } from './commands.ts'
import type { Conversation } from './conversation.ts'

export function answerOf(conversation: Conversation, attempts: CountAttempts): Answer {
  const command = commandAnswer(conversation, attempts)
  if (command) return command
  for (const { form, reply } of FORMS) {
    const match = form.exec(conversation.asked)
    if (match) return { pieces: reply(match, conversation) }
  }
  return { pieces: say(WHAT_I_CAN_DO) }
}

const WHAT_I_CAN_DO = `I am the **demo model**: a script, not an AI. I can do a few things, with real tools:

- \`what is 6 * 7\`
- \`write notes.txt: buy milk\`, \`append notes.txt: and bread\`, \`read notes.txt\`, \`list files\`
- \`replace milk with tea in notes.txt\`, \`find milk\`
- \`count words in notes.txt\`, \`sum column 2 of sales.csv\`
- \`run: seq 3 | tac\`
- \`sql: select sqlite_version()\`
- \`what did I say\`

Add a key of a provider, or the address of a local model server, in the settings to talk to a real model.`

interface Form {
  form: RegExp
  reply: (match: RegExpExecArray, conversation: Conversation) => Piece[]
}

/** Calls the tool first, and reports its result when it is there. */
function withTool(form: RegExp, tool: (match: RegExpExecArray) => [string, unknown], report: (result: string) => string): Form {
  return {
    form,
    reply: (match, { results: [result] }) =>
      result === undefined ? [...say('I use a tool. '), call(...tool(match))] : say(report(result)),
  }
}

/** Said word by word: of a long result only the beginning. */
const RESULT_LENGTH = 2000

function code(result: string): string {
  const text = result.trimEnd() || '(nothing)'
  const shown = text.length > RESULT_LENGTH ? `${text.slice(0, RESULT_LENGTH)}…` : text
  return `The result:\n\n\`\`\`\n${shown}\n\`\`\``
}
const asIs = (result: string) => result

const FORMS: Form[] = [
  withTool(/^(?:run:|\$)\s*([\s\S]+)$/i, ([, command]) => ['bash', { command }], code),
  // Only if the operator has set it up.
  withTool(/^notify:\s*([\s\S]+)$/i, ([, text]) => ['notify', { text }], asIs),
  withTool(/^sql:\s*([\s\S]+)$/i, ([, query]) => ['sql', { query }], code),
  withTool(/^write\s+(\S+):\s?([\s\S]*)$/i, ([, path, content]) => ['write', { path, content: `${content}\n` }], asIs),
  withTool(
    /^append\s+(\S+):\s?([\s\S]*)$/i,
    ([, path, text]) => ['bash', { command: `printf '%s\\n' ${quoted(text)} >> ${quoted(path)} && echo appended` }],
    code,
  ),
  withTool(/^read\s+(?:file\s+)?(\S+)$/i, ([, path]) => ['read', { path }], code),
  withTool(/^list(?:\s+files)?$/i, () => ['glob_search', { pattern: '**/*' }], code),
  withTool(/^find\s+(.+)$/i, ([, pattern]) => ['grep', { pattern }], code),
  withTool(
    /^replace\s+(.+?)\s+with\s+(.+?)\s+in\s+(\S+)$/i,
    ([, old_string, new_string, path]) => ['edit', { path, old_string, new_string }],
    asIs,
  ),
  withTool(
    /^count\s+(words|lines)\s+in\s+(\S+)$/i,
    ([, unit, path]) => ['bash', { command: `wc -${unit?.[0]?.toLowerCase()} < ${quoted(path)}` }],
    code,
  ),
  withTool(
    /^sum\s+column\s+(\d+)\s+of\s+(\S+)$/i,
    ([, n, path]) => ['bash', { command: `awk -F, '{ sum += $${n} } END { print sum }' ${quoted(path)}` }],
    code,
  ),
  {
    form: /^(?:what did i say|remember)\b/i,
    reply: (_, { before }) =>
      say(before.length === 0 ? 'Nothing before this.' : `You said: ${before.map((text) => `“${text}”`).join(', ')}.`),
  },
  withTool(
    /^(?:what(?:'s| is)|calculate|compute)?\s*((?=.*\d)[\d\s.()+\-*/%^]+)\s*[?=]*$/i,
    ([, expression]) => ['calculator', { expression: expression?.trim() }],
    (result) => `The answer is ${result}.`,
  ),
]

function quoted(text = ''): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
