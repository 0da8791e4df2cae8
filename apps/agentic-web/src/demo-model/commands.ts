// Test commands of the scripted model: `!slow 50`, `!stall`, `!error 429 2` and so on. They make answers that a real model gives rarely.
import { type Answer, call, type Piece, type Refusal, say } from './answer.ts'
import type { Conversation } from './conversation.ts'

/** How often a command was asked for so far in the same place of the same conversation. */
export type CountAttempts = (conversation: Conversation) => number

type Command = (words: string[], conversation: Conversation, attempts: CountAttempts) => Answer

const FOREVER_MS = 3_600_000

/** Undefined if the message is no test command. */
export function commandAnswer(conversation: Conversation, attempts: CountAttempts): Answer | undefined {
  const [name = '', ...words] = conversation.asked.split(/\s+/)
  return name.startsWith('!') ? COMMANDS[name.slice(1)]?.(words, conversation, attempts) : undefined
}

const COMMANDS: Readonly<Record<string, Command>> = {
  /** `!slow n k`: n numbered words, ten a second. With k it falls silent after so many words the first time that it is asked. */
  slow: ([n, k], conversation, attempts) => ({ pieces: silentOnce(numbered(n, 100), number(k, 0), conversation, attempts) }),
  /** `!fast n`: n numbered words without pauses. */
  fast: ([n]) => ({ pieces: numbered(n, 0) }),
  /** `!clock n ms`: n times what the clock of the server says then, with pauses of so many milliseconds. To measure how long a word takes. */
  clock: ([n, ms]) => ({ pieces: times(n, () => [{ clock: true as const }, { pauseMs: number(ms, 20) }]).flat() }),
  stall: () => ({ pieces: [...say('This answer stops in the middle of a'), { pauseMs: FOREVER_MS }] }),
  silent: () => ({ pieces: [{ pauseMs: FOREVER_MS }] }),
  /** `!cut n`: the first n answers break off. */
  cut: ([n], conversation, attempts) =>
    attempts(conversation) <= number(n, 1)
      ? { pieces: [...say('This answer breaks off in the middle of a'), { cut: true }] }
      : { pieces: say('This answer is complete.') },
  /** `!error kind n`: the first n calls are refused. */
  error: ([kind = '500', n], conversation, attempts) =>
    attempts(conversation) <= number(n, Number.POSITIVE_INFINITY)
      ? { refusal: REFUSALS[kind] ?? failed(500, `there is no test command for the error ${JSON.stringify(kind)}`) }
      : { pieces: say('The server answers again.') },
  badargs: (_, { results }) => ({
    pieces: results.length > 0 ? say(`The tool said: ${results.at(-1)}`) : [{ call: 'bash', args: '{"command": oops' }],
  }),
  unknowntool: (_, { results }) => ({ pieces: results.length > 0 ? say(`The tool said: ${results.at(-1)}`) : [call('teleport', {})] }),
  reason: () => ({
    pieces: [
      { think: 'This is where a model would reason. ' },
      { pauseMs: 50 },
      { think: 'This one only follows a script.' },
      ...say('I have “reasoned”.'),
    ],
  }),
  /** `!tools n`: n calls of a tool at once. */
  tools: ([n], { results }) => ({
    pieces:
      results.length > 0
        ? say(`The tools returned ${results.join(', ')}.`)
        : times(n, (i) => call('calculator', { expression: `${i} * ${i}` })),
  }),
  /** `!steps n k`: n calls of the model, each with a tool, and then an answer. With k that call falls silent in its middle the first time. */
  steps: ([n, k], conversation, attempts) => {
    const { calls, results } = conversation
    if (calls >= number(n, 3))
      return { pieces: say(`All steps are done. The file had these lengths: ${results.map((text) => text.trim()).join(', ')}.`) }
    const words = numbered('10', 30, `step ${calls + 1} word`)
    const tool = call('bash', { command: `echo step ${calls + 1} >> steps.txt; wc -l < steps.txt` })
    return { pieces: silentOnce([...words, tool], calls + 1 === number(k, 0) ? 5 : 0, conversation, attempts) }
  },
  loop: () => ({ pieces: [call('calculator', { expression: '1 + 1' })] }),
  huge: ([n]) => ({ pieces: times(n, () => ({ say: `${'x'.repeat(63)}\n`.repeat(1024) })) }),
  /** Only a worker with ALLOW_CRASH=1 obeys. */
  'crash-worker': (_, { results }) => ({
    pieces: results.length > 0 ? say(`The worker said: ${results.at(-1)}`) : [call('crash_worker', {})],
  }),
}

const REFUSALS: Readonly<Record<string, Refusal>> = {
  '429': failed(429, 'Too many requests.', { 'Retry-After': '1' }),
  wait: failed(429, 'Too many requests.', { 'Retry-After': '20' }),
  '500': failed(500, 'The server had an error.'),
  '503': failed(503, 'The server is overloaded.'),
  '401': failed(401, 'Incorrect API key provided.'),
  '404': failed(404, 'The model does not exist.'),
  context: {
    status: 400,
    body: JSON.stringify({ error: { message: "This model's maximum context length is 8192 tokens.", code: 'context_length_exceeded' } }),
  },
  html: { status: 200, headers: { 'Content-Type': 'text/html' }, body: '<!doctype html><title>Sign in</title><p>This is no model.' },
}

function failed(status: number, message: string, headers: Record<string, string> = {}): Refusal {
  return { status, headers, body: JSON.stringify({ error: { message, type: 'scripted', code: null } }) }
}

/** The first time these pieces end in silence after so many words; 0 means that they never do. */
function silentOnce(pieces: Piece[], words: number, conversation: Conversation, attempts: CountAttempts): Piece[] {
  if (words === 0 || attempts(conversation) > 1) return pieces
  return [...pieces.slice(0, 2 * words), { pauseMs: FOREVER_MS }]
}

function numbered(n: string | undefined, pauseMs: number, word = 'word'): Piece[] {
  return times(n, (i) => [{ say: `${word}-${i} ` }, { pauseMs }]).flat()
}

function times<T>(n: string | undefined, make: (i: number) => T): T[] {
  return Array.from({ length: number(n, 3) }, (_, i) => make(i + 1))
}

function number(text: string | undefined, fallback: number): number {
  const value = Number(text)
  return text !== undefined && Number.isSafeInteger(value) && value >= 0 ? Math.min(value, 10_000) : fallback
}
