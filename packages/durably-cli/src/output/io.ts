/** Where a command writes to, and what it knows of the place it was started in. */
export interface Io {
  /** What was asked for: one line, or several. */
  out(text: string): void
  /** Everything else: errors, progress, hints. */
  err(text: string): void
  /** Overwrites the last line of the terminal; nothing where there is none. */
  status(text: string): void
  /** Clears the terminal; nothing where there is none. */
  clear(): void
  /** How wide the terminal is; infinite where there is none, so that other programs get whole texts. */
  columns: number
  isTerminal: boolean
  hasColors: boolean
  env: Readonly<Record<string, string | undefined>>
  /** Reads everything from standard input. */
  input(): Promise<string>
  /** Aborts when the user presses Ctrl-C, or the process is asked to end. */
  interrupted: AbortSignal
}

const CLEAR_LINE = '\r\u001b[2K'
const CLEAR_SCREEN = '\u001b[2J\u001b[H'

export function systemIo(): Io {
  const { stdout, stderr, stdin, env } = process
  const isTerminal = stdout.isTTY === true
  // A reader that has seen enough, such as `head`, closes the pipe.
  stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  const stop = new AbortController()
  return {
    out: (text) => void stdout.write(`${text}\n`),
    err: (text) => void stderr.write(`${text}\n`),
    status: (text) => void (stderr.isTTY && stderr.write(CLEAR_LINE + text)),
    clear: () => void (isTerminal && stdout.write(CLEAR_SCREEN)),
    columns: isTerminal ? stdout.columns || 80 : Number.POSITIVE_INFINITY,
    isTerminal,
    hasColors: isTerminal && !env.NO_COLOR && env.TERM !== 'dumb',
    env,
    async input() {
      let text = ''
      for await (const chunk of stdin.setEncoding('utf8')) text += chunk
      return text
    },
    get interrupted() {
      if (process.listenerCount('SIGINT') === 0)
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
      return stop.signal
    },
  }
}
