import type { Durably, JobHandle } from '@coji/durably'

/** A job of which only the name is known here. Nothing executes it in this process, which starts no worker. */
export function uncheckedJob(durably: Durably, name: string): JobHandle<string, unknown, unknown> {
  const anything = { '~standard': { version: 1 as const, vendor: 'durably-cli', validate: (value: unknown) => ({ value }) } }
  return durably.defineJob({ name, input: anything }, async () => {
    throw new Error('durably trigger executes no runs')
  })
}
