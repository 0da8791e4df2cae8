// Mutants without a guard of the audit.
import type { Mutant } from './mutant.ts'

export const AUDIT_MUTANTS: Mutant[] = [
  {
    name: 'refused-cancel-recorded',
    guard: 'a cancel is recorded only if it has changed something (U1)',
    file: 'store/memory/cancel.ts',
    find: 'if (row.version > version || others.length > 0) recordEntry',
    replace: 'recordEntry',
  },
  {
    name: 'retry-not-recorded',
    guard: 'a retry is recorded (U1)',
    file: 'store/memory/client-moves.ts',
    find: 'recordEntry(tables, options, row.version)',
    replace: '',
  },
  {
    name: 'delete-not-recorded',
    guard: 'a delete is recorded (U1)',
    file: 'store/memory/client-moves.ts',
    find: 'recordEntry(tables, options, null)',
    replace: '',
  },
  {
    name: 'signal-recorded-twice',
    guard: 'a signal that is sent again is recorded once (U2)',
    file: 'store/memory/signals.ts',
    find: 'if (known) return',
    replace: 'if (known) recordEntry(tables, options, null)\n      if (known) return',
  },
  {
    name: 'election-not-recorded',
    guard: 'a new leader is recorded',
    file: 'store/memory/leaders.ts',
    find: 'if (!isMine) recordElection(tables, tables.leader)',
    replace: '',
  },
  {
    name: 'unnoticed-election-not-recorded',
    guard: 'a leader that is elected anew without knowing that another one led is recorded',
    file: 'store/memory/leaders.ts',
    find: 'if (!isMine) recordElection(tables, tables.leader)',
    replace:
      'if (!isMine && !Array.from(tables.audit.values()).some(({ actor }) => actor === workerId)) recordElection(tables, tables.leader)',
  },
]
