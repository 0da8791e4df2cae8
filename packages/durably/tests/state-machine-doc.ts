// Prints docs/state-machine.md from the tables of the model. What stands here in words is keyed by the model's own types,
// so a new move, phase or verb does not compile until it has its sentence.
import type { Phase } from '../src/model/phase.ts'
import { PHASES } from '../src/model/phase.ts'
import { isTerminal, RUN_STATUSES, type RunStatus } from '../src/model/run.ts'
import { TRANSITION_RULES } from '../src/model/transition-rules.ts'
import { canMove, type Move, TRANSITIONS, type Transition } from '../src/model/transitions.ts'
import type { OwnerVerb } from '../src/store/owner-write.ts'

const MOVES = Object.entries(TRANSITIONS) as [Move, Transition][]

const STATUS_MEANS: Record<RunStatus, string> = {
  pending: 'waits for a worker',
  running: 'a worker holds its lease',
  completed: 'the job function returned, its output is stored',
  failed: 'its code threw, its output was invalid, its workers kept dying, or its row cannot be read',
  cancelled: 'someone asked it to stop, and it did',
}

const PHASE_MEANS: Record<Phase, string> = {
  pending: 'status is `pending`, its time has come, no worker was chosen for it',
  assigned: 'like `pending`, and a leader has chosen its worker (`assigned_worker_id`)',
  orphaned: 'like `pending`; the worker that was chosen is gone, and none is chosen again',
  sleeping: 'status is `pending`, `run_at` is in the future',
  waiting: 'like `sleeping`, but it waits for a signal, a child or a decision',
  running: 'status is `running`, lease not expired, no cancel requested',
  cancelling: 'status is `running`, lease not expired, cancel requested',
  stale: 'status is `running`, lease expired: the next worker that polls reclaims it',
  confirming:
    'status is `running`, its lease had expired, and its worker may still come back: nobody reclaims it before `confirmFor` has passed',
  completed: 'status is `completed`',
  failed: 'status is `failed`',
  cancelled: 'status is `cancelled`',
}

const VERB_MEANS: Record<OwnerVerb['type'], string> = {
  heartbeat: 'renews the lease',
  recordStep: 'records one step, completed or failed, and renews the lease',
  complete: 'stores the output and ends the lease',
  fail: 'stores the error and ends the lease',
  release: 'puts the run back to `pending`, when a worker stops and the function has settled',
  retryLater: 'counts a failed attempt and puts the run back to `pending` until the next one is due; due at once if a cancel was requested',
  park: 'puts the run back to `pending` until the first thing it waits for is due; due at once if a cancel or a signal came meanwhile',
  abandon: 'ends a run whose cancel was requested',
}

export function stateMachineDoc(): string {
  return `<!-- Printed from packages/durably/src/model/transitions.ts and its rules. Do not edit: run \`npm run docs\`. -->

# The state machine of a run

Every status of a run, and every way from one to another. Each change of status is one of the moves below; no other exists. The stores
take their guards from the same table, and the store contract tries every move on every status.

${statuses()}

${diagram()}

## Moves

Each move is one transaction. It raises \`version\` by one and appends its event in the same transaction.

${moves()}

A refused move changes nothing and appends nothing. \`cancel\` of a running run is not a move: it sets \`cancel_requested_at\`, and the owner
finds it with its next write.

Every move to \`pending\` begins a new **round**. Within a round a run only moves forward.

## Every status with every move

${matrix()}

## Phases

A phase is a more precise status for people. It is computed from the row and the time, and never stored.

${phases()}

## Owner writes

The owner of a run is the worker that made the last accepted claim. It can write in these ways only.

${ownerVerbs()}

An owner write is accepted only while the row is \`running\` and both its lease generation and its claim token are the writer's.
Its write number must be higher than the last accepted one; otherwise the write was applied before, and the answer is repeated
(see [ADR 0001](adr/0001-write-number.md)).
`
}

function statuses(): string {
  return table(
    ['Status', 'Meaning', 'Ended'],
    RUN_STATUSES.map((status) => [code(status), STATUS_MEANS[status], isTerminal(status) ? 'yes' : '']),
  )
}

function diagram(): string {
  const arrows = new Map<string, string[]>()
  for (const [name, { from, to }] of MOVES) {
    for (const status of from) {
      const arrow = `${status} --> ${to}`
      arrows.set(arrow, [...(arrows.get(arrow) ?? []), name])
    }
  }
  const lines = Array.from(arrows, ([arrow, names]) => `  ${arrow}: ${names.join(', ')}`)
  return ['```mermaid', 'stateDiagram-v2', '  direction LR', '  [*] --> pending: trigger', ...lines, '```'].join('\n')
}

function moves(): string {
  return table(
    ['Move', 'Who', 'From', 'To', 'Guard', 'Event'],
    MOVES.map(([name, { from, to, event }]) => {
      const { who, guard } = TRANSITION_RULES[name]
      return [code(name), who, from.map(code).join(', '), code(to), guard, code(event)]
    }),
  )
}

function matrix(): string {
  return table(
    ['', ...RUN_STATUSES.map(code)],
    MOVES.map(([name, { to }]) => [code(name), ...RUN_STATUSES.map((status) => (canMove(name, status) ? `→ ${to}` : '–'))]),
  )
}

function phases(): string {
  return table(
    ['Phase', 'When'],
    PHASES.map((phase) => [code(phase), PHASE_MEANS[phase]]),
  )
}

function ownerVerbs(): string {
  return table(
    ['Write', 'What it does', 'Lease after'],
    Object.entries(VERB_MEANS).map(([verb, means]) => [code(verb), means, verb in TRANSITIONS ? 'ended' : 'renewed']),
  )
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function code(word: string): string {
  return `\`${word}\``
}
