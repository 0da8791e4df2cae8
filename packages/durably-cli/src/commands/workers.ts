import { type Cluster, cluster, type Worker } from '@coji/durably/cluster'
import { AS_OPTION, actorOf } from '../actor.ts'
import type { Command } from '../command.ts'
import { UsageError } from '../exit-code.ts'
import type { Given } from '../given.ts'
import { withDurably } from '../open.ts'
import type { Io } from '../output/io.ts'
import { type Cell, table } from '../output/table.ts'
import { relative } from '../output/time.ts'

const DEEDS = ['list', 'drain', 'detach', 'attach'] as const

export const workers: Command = {
  name: 'workers',
  summary: 'list the workers in the register and the leader; drain, detach or attach one',
  about: 'A worker is in the register if its process calls cluster(), as durably worker does.',
  args: [
    { name: 'deed', what: 'what to do; list by default', optional: true, choices: DEEDS },
    { name: 'worker', what: 'the name of the worker', optional: true },
  ],
  options: AS_OPTION,
  examples: ['durably workers', 'durably workers drain web-2', 'durably workers --json'],
  run: (given, io) =>
    withDurably(given, io, async (durably, { now }) => {
      const register = cluster(durably)
      const deed = (given.args('deed')[0] ?? 'list') as (typeof DEEDS)[number]
      if (deed !== 'list') return change(register, deed, given, io)
      const [found, leader] = await Promise.all([register.workers(), durably.leader()])
      if (given.has('json')) io.out(JSON.stringify({ workers: found, leader }))
      else show(found, leader?.isLeading ? leader.workerId : null, io, now())
      return undefined
    }),
}

async function change(register: Cluster, deed: 'drain' | 'detach' | 'attach', given: Given, io: Io): Promise<undefined> {
  const worker = given.args('worker')[0]
  if (worker === undefined) throw new UsageError(`<worker> is missing: which worker to ${deed}`)
  await register[deed](worker, actorOf(given, io))
  io.out(`${worker} learns within five seconds to ${deed}`)
}

function show(workers: readonly Worker[], leader: string | null, io: Io, nowMs: number): void {
  if (workers.length === 0) io.err('no worker is in the register')
  else
    io.out(
      table(
        io,
        COLUMNS,
        workers.map((worker) => rowOf(worker, leader, nowMs)),
      ),
    )
  io.out(leader === null ? 'nobody leads' : `leader: ${leader}`)
}

const COLUMNS = [
  { title: 'WORKER', whole: true },
  { title: 'STATE' },
  { title: 'RUNNING', right: true },
  { title: 'ASSIGNED', right: true },
  { title: 'HEARD' },
  { title: 'VERSION' },
  { title: 'JOBS' },
]

function rowOf(
  { id, state, isSilent, running, capacity, assigned, heartbeatAt, version, jobNames }: Worker,
  leader: string | null,
  nowMs: number,
): (Cell | string)[] {
  return [
    { text: id, ...(id === leader && { color: 'bold' as const }) },
    isSilent ? { text: 'silent', color: 'red' } : { text: state, color: state === 'attached' ? 'green' : 'yellow' },
    `${running}/${capacity}`,
    String(assigned),
    relative(heartbeatAt, nowMs),
    version ?? '',
    jobNames.join(' '),
  ]
}
