// The oldest sqlite-wasm that will do. The manifest cannot say it: all its releases are named as pre-releases (3.51.2-build9), and a range
// of npm matches a pre-release only if it names the same version.
import { DurablyError } from '../model/errors.ts'

/** The first one whose pool of files can be closed (`pauseVfs`); the pool itself (`installOpfsSAHPoolVfs`) came with 3.43. */
const OLDEST = { number: 3_050_000, name: '3.50.0' }
/** The one that is tested. The tag `latest` may point to one that is too old. */
const TESTED = '3.51.2-build9'

export interface WasmVersion {
  libVersion: string
  libVersionNumber: number
}

export function checkWasmVersion({ libVersion, libVersionNumber }: WasmVersion): void {
  if (libVersionNumber >= OLDEST.number) return
  throw new DurablyError(
    'invalid_config',
    `browserDialect() needs @sqlite.org/sqlite-wasm ${OLDEST.name} or later, and ${libVersion} is installed: npm install @sqlite.org/sqlite-wasm@${TESTED}`,
  )
}
