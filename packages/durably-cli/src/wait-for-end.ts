import type { Durably, Run } from '@coji/durably'
import { CliError } from './exit-code.ts'

/** The run, once it has ended. */
export async function waitForEnd(durably: Durably, id: string, interrupted: AbortSignal): Promise<Run> {
  try {
    for await (const _ of durably.subscribe(id, { signal: interrupted }));
  } catch (error) {
    if (!interrupted.aborted) throw error
    throw new CliError(`no longer waiting; run ${id} goes on: durably run ${id} --follow`)
  }
  const run = await durably.getRun(id)
  if (!run) throw new CliError(`run ${id} was deleted meanwhile`)
  return run
}
