// NeverEnded — nothing that a crash test waits for may keep it for ever, and its message says what that was.
import { systemEnv, within } from '../../model/env.ts'

export class NeverEnded extends Error {}

/** Bounds what the user's code does outside of runs, in real time. */
export async function inTime<T>(what: string, { timeoutMs }: { timeoutMs: number }, promise: T | Promise<T>): Promise<T> {
  if (await within(systemEnv(), timeoutMs, Promise.resolve(promise))) return promise
  throw new NeverEnded(`${what} did not settle within ${timeoutMs} ms; if it takes longer, raise the option "timeout"`)
}
