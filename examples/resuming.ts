// Resuming: the first worker process dies in the middle of a step; the second one resumes at the last recorded step.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDurably } from '@coji/durably'
import { sqlite } from '@coji/durably/sqlite'
import { z } from 'zod'

const [file, crash] = process.argv.slice(2)
if (file) await work(file, crash === 'crash')
else startTwoWorkers()

function startTwoWorkers(): void {
  const folder = mkdtempSync(join(tmpdir(), 'durably-'))
  const worker = (...args: string[]) => {
    const command = ['--no-warnings', fileURLToPath(import.meta.url), join(folder, 'app.db'), ...args]
    return spawnSync(process.execPath, command, { stdio: 'inherit' })
  }
  console.log('first worker')
  const { signal } = worker('crash')
  console.log(`first worker died of ${signal}`)
  console.log('second worker')
  worker()
  rmSync(folder, { recursive: true })
}

async function work(file: string, crashes: boolean): Promise<void> {
  // A short lease, so that the example need not wait 30 seconds until the lease of the dead worker expires.
  const durably = createDurably({ dialect: sqlite(file), staleThreshold: 1000 })
  const notifyUsers = durably.defineJob({ name: 'notify-users', input: z.object({}) }, async (ctx) => {
    const users = await ctx.run('fetch-users', () => {
      console.log('  fetch-users runs')
      return ['ada', 'grace']
    })
    console.log(`  users: ${users.join(', ')}`)
    await ctx.run('process-users', () => {
      console.log('  process-users runs')
      if (crashes) process.kill(process.pid, 'SIGKILL')
    })
    await ctx.run('notify', () => console.log('  notify runs'))
  })
  await durably.migrate()
  durably.start({ handleSignals: true })
  // With the key both processes get the same run.
  await notifyUsers.triggerAndWait({}, { idempotencyKey: 'monday' })
  console.log('  completed')
  await durably[Symbol.asyncDispose]()
}
