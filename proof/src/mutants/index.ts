// All mutants. The proof must find every one of them; otherwise it proves nothing.
import { ARCHIVE_MUTANTS } from './archive.ts'
import { AUDIT_MUTANTS } from './audit.ts'
import { EXECUTION_MUTANTS } from './execution.ts'
import { FLEET_MUTANTS } from './fleet.ts'
import { INBOX_MUTANTS } from './inbox.ts'
import { LEADERSHIP_MUTANTS } from './leadership.ts'
import { LEASE_MUTANTS } from './lease.ts'
import type { Mutant } from './mutant.ts'
import { SCHEDULE_MUTANTS } from './schedules.ts'
import { SQL_MUTANTS } from './sql.ts'
import { STEP_MUTANTS } from './steps.ts'
import { STORE_MUTANTS } from './store.ts'

export const MUTANTS: Mutant[] = [
  ...STORE_MUTANTS,
  ...LEASE_MUTANTS,
  ...EXECUTION_MUTANTS,
  ...STEP_MUTANTS,
  ...LEADERSHIP_MUTANTS,
  ...SCHEDULE_MUTANTS,
  ...INBOX_MUTANTS,
  ...SQL_MUTANTS,
  ...FLEET_MUTANTS,
  ...ARCHIVE_MUTANTS,
  ...AUDIT_MUTANTS,
]
