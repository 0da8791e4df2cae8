import { readdirSync, readFileSync, statSync } from 'node:fs'

/** What is left of a user's processes on this machine, as their command lines. One that has ended and was not waited for yet is not counted. Of Linux. */
export function processesOf(uid: number): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const isOf = statSync(`/proc/${pid}`).uid === uid && !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
        return isOf ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')] : []
      } catch {
        return []
      }
    })
}
