// Scenario — something that users complain about elsewhere, done to the fleet on purpose.
//   - What must hold is asserted. How long it took is a figure, which must not exceed its bound.
import type { Chromium } from './browser.ts'
import type { Rig } from './rig.ts'

export interface Scenario {
  name: string
  play(stage: Stage): Promise<Figures>
}

export interface Stage {
  rig: Rig
  chromium: Chromium
  /** The short form is for every test run. */
  isShort: boolean
}

export type Figures = Record<string, number | string | Timed>

export interface Timed {
  ms: number
  /** At most so long. */
  boundMs: number
}

export function isTimed(figure: Figures[string]): figure is Timed {
  return typeof figure === 'object'
}
