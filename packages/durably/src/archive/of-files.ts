import { type Env, outside } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'

/** An error of the files as one of ours: like an unavailable database, it may pass. */
export async function ofFiles<T>(env: Env, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await outside(env, work())
  } catch (cause) {
    throw new DurablyError('archive_unavailable', `the archive cannot ${what}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
}
