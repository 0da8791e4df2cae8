/** Where the lines of an instance go: `console`, pino, or anything else with these four methods. */
export interface DurablyLogger {
  /** Called when an attempt or a step failed and is tried again. The console does not show these lines. */
  debug(line: string): void
  /** Called by `start()` in a terminal, with a line that says where the worker works. */
  info(line: string): void
  /** Called with a line about trouble after which runs go on, such as a lost worker or a listener that threw. */
  warn(line: string): void
  /** Called with a line about a run that failed, or about an error of the worker, such as a database that cannot be reached. */
  error(line: string): void
}
