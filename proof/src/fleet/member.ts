// What every process of the fleet is made of: its place in the world, and the jobs. It dies with its parent.
import { createDurably } from '@coji/durably'
import { postgres } from '@coji/durably/postgres'
import pg from 'pg'
import { callsTo, defineJobs } from './jobs.ts'

export interface MemberSetup {
  name: string
  databaseUrl: string
  leaseMs: number
}

export function openMember() {
  const setup = JSON.parse(process.argv[2] ?? '{}') as MemberSetup
  process.on('disconnect', () => process.exit())
  const calls = new pg.Pool({ connectionString: setup.databaseUrl, max: 2 })
  calls.on('error', () => {})
  const durably = createDurably({
    dialect: postgres(setup.databaseUrl),
    logger: false,
    staleThreshold: setup.leaseMs,
    heartbeatInterval: Math.round(setup.leaseMs / 3),
    pollingInterval: 250,
    concurrency: 8,
  })
  return { setup, durably, jobs: defineJobs(durably, callsTo(calls, setup.name)) }
}
