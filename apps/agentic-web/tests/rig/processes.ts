import { readdirSync, readFileSync, statSync } from 'node:fs'

/** What is left of a user's processes on this machine, as their command lines. Of Linux. */
export function processesOf(uid: number): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return statSync(`/proc/${pid}`).uid === uid ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')] : []
      } catch {
        return []
      }
    })
}
