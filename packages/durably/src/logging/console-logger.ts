import type { DurablyLogger } from './logger.ts'

/** `console.debug` prints on Node, so the default has no such lines. */
export const CONSOLE: DurablyLogger = {
  debug: () => {},
  info: (line) => console.info(line),
  warn: (line) => console.warn(line),
  error: (line) => console.error(line),
}
