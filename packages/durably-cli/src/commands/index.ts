// Every command, in the order in which help lists them.
import type { Command } from '../command.ts'
import { audit } from './audit.ts'
import { cancel } from './cancel.ts'
import { completion } from './completion.ts'
import { copy } from './copy.ts'
import { crashtest } from './crashtest.ts'
import { decide } from './decide.ts'
import { dev } from './dev.ts'
import { doctor } from './doctor.ts'
import { explain } from './explain.ts'
import { migrate } from './migrate.ts'
import { purge } from './purge.ts'
import { retry } from './retry.ts'
import { run } from './run.ts'
import { runs } from './runs.ts'
import { schedules } from './schedules.ts'
import { signal } from './signal.ts'
import { stats } from './stats.ts'
import { trigger } from './trigger.ts'
import { worker } from './worker.ts'
import { workers } from './workers.ts'

export const COMMANDS: readonly Command[] = [
  dev,
  runs,
  run,
  explain,
  trigger,
  retry,
  cancel,
  signal,
  decide,
  purge,
  schedules,
  workers,
  audit,
  stats,
  doctor,
  migrate,
  worker,
  crashtest,
  copy,
  completion(() => COMMANDS),
]
