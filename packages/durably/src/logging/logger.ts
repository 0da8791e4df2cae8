/** Where the lines of an instance go: `console`, pino, or anything else with these four methods. */
export interface DurablyLogger {
  debug(line: string): void
  info(line: string): void
  warn(line: string): void
  error(line: string): void
}
