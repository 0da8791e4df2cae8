// What the errors of the engine mean for somebody at a terminal.
import type { DurablyError, ErrorCode } from '@coji/durably'
import { EXIT } from './exit-code.ts'

const REMEDIES: Partial<Record<ErrorCode, string>> = {
  not_migrated: 'durably migrate creates or updates the tables; durably migrate --print shows the statements first',
  schema_too_new: 'npm install @coji/durably@latest @coji/durably-cli@latest updates this program',
  store_busy: 'another program holds a transaction open; durably doctor says more',
  store_unavailable:
    'is the database up, and does its address lead there? A worker waits for it and goes on; a command is to be given again',
  store_gone: 'is the file still there, at the same path?',
  run_not_found: 'durably runs lists the newest runs',
  worker_not_found: 'durably workers lists those that are there',
  schedule_not_found: 'durably schedules lists those that are there',
}

const OF_THE_DATABASE: readonly ErrorCode[] = [
  'not_migrated',
  'schema_too_new',
  'invalid_config',
  'unknown_dialect',
  'store_busy',
  'store_unavailable',
  'store_full',
  'store_readonly',
  'store_corrupt',
  'store_gone',
  'store_rejected',
]

const OF_THE_COMMAND_LINE: readonly ErrorCode[] = ['invalid_argument', 'invalid_name', 'invalid_input']

export function remedyOf({ code }: DurablyError): string | undefined {
  return REMEDIES[code]
}

export function exitCodeOf({ code }: DurablyError): number {
  if (OF_THE_DATABASE.includes(code)) return EXIT.database
  return OF_THE_COMMAND_LINE.includes(code) ? EXIT.usage : EXIT.refused
}
