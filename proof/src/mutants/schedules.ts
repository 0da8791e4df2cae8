// Mutants without a guard in the election and in the firing of schedules.
import type { Mutant } from './mutant.ts'

const FILE = 'store/memory/schedules.ts'

export const SCHEDULE_MUTANTS: Mutant[] = [
  {
    name: 'deposed-leader-fires',
    guard: 'a firing needs the epoch of the leader (C2)',
    file: FILE,
    find: "if (tables.leader?.epoch !== epoch) return { outcome: 'deposed' }",
    replace: "if ((tables.leader?.epoch ?? 0) < epoch) return { outcome: 'deposed' }",
  },
  {
    name: 'stale-schedule-fires',
    guard: 'a firing needs the version that its leader has read (C2)',
    file: FILE,
    find: '!known || known.version !== version || known.paused',
    replace: '!known || known.version < version || known.paused',
  },
  {
    name: 'fires-before-its-time',
    guard: 'no time is used that is later than the clock of the store (C3)',
    file: FILE,
    find: 'if (lastScheduledFor > tables.nowMs)',
    replace: 'if (lastScheduledFor > tables.nowMs + 86_400_000)',
  },
  {
    name: 'used-time-fires-again',
    guard: 'a time that is not later than the last used one gets no run (C1)',
    file: FILE,
    find: 'return scheduledFor > (lastScheduledFor ?? Number.NEGATIVE_INFINITY) && ',
    replace: 'return scheduledFor > (lastScheduledFor ?? 0) - 86_400_000 && ',
  },
  {
    name: 'last-time-goes-back',
    guard: 'the last used time of a schedule never goes back (C1)',
    file: FILE,
    find: 'Math.max(lastScheduledFor, known.lastScheduledFor ?? lastScheduledFor)',
    replace: 'Math.min(lastScheduledFor, Number.POSITIVE_INFINITY)',
  },
  {
    name: 'lease-of-leader-far-ahead',
    guard: 'a lease of the leader from before the clock was set back is over (E3)',
    file: 'store/memory/leaders.ts',
    find: ' && leader.expiresAt <= nowMs + 2 * leaseMs',
    replace: '',
  },
  {
    name: 'same-epoch',
    guard: 'each change of the leader has a higher epoch (E1)',
    file: 'store/memory/leaders.ts',
    find: '(leader?.epoch ?? 0) + (isMine ? 0 : 1)',
    replace: 'Math.max(1, leader?.epoch ?? 0)',
  },
  {
    name: 'missed-times-are-lost',
    guard: 'misfire all gives each missed time a run',
    file: 'cluster/due-slots.ts',
    find: "if (misfire !== 'all' || overlap === 'cancel')",
    replace: "if (misfire !== 'skip' || overlap === 'cancel')",
  },
  {
    name: 'refused-for-ever',
    guard: 'a process that was refused the lead asks again when the lease of the leader can be over (L2)',
    file: 'cluster/election.ts',
    find: 'env.mono() + expiresInMs',
    replace: 'env.mono() + 100 * expiresInMs',
  },
]
