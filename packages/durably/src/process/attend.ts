// What a started worker does in a process, and not in a page: it logs where it works, finds runs that no worker executes, and handles signals.
import type { Engine } from '../engine.ts'
import { CONSOLE } from '../logging/console-logger.ts'
import { tell } from '../model/tell.ts'
import { giveBackOnSignals } from './signals.ts'
import { startLine } from './start-line.ts'
import { watchWaitingJobs } from './waiting-jobs.ts'

export interface Attendance {
  handleSignals: boolean
  /** Aborts when the worker is stopped. */
  left: AbortSignal
  /** Gives back the runs whose functions settle, and closes nothing. */
  release: () => Promise<void>
}

export function attend(engine: Engine, attendance: Attendance): void {
  if (attendance.handleSignals) giveBackOnSignals(engine, attendance)
  if (engine.logger === false) return
  const logger = engine.logger ?? CONSOLE
  if (process.stdout?.isTTY) tell(() => logger.info(startLine(engine, attendance.handleSignals)))
  watchWaitingJobs(engine, logger, attendance.left)
}
