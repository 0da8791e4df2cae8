import { accessSync, constants, statSync } from 'node:fs'

/** Not what PATH says: the worker's environment must not decide which program isolates its tools. */
const PLACES = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap']
const SET_USER_ID = 0o4000

/** Undefined if it is not installed. */
function findBubblewrap(): string | undefined {
  return PLACES.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

export function demandBubblewrap(): string {
  const path = findBubblewrap()
  if (path === undefined) throw new Error('bubblewrap is not installed (looked for /usr/bin/bwrap); install it, or set SANDBOX=none')
  if (statSync(path).mode & SET_USER_ID) throw new Error(`${path} is setuid root; tools are isolated by a user that has no rights only`)
  return path
}
