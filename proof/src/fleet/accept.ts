// Plays every scenario on one fleet, one after the other, and reports what was measured.
import { Chromium } from './browser.ts'
import { bundlePage } from './bundle-page.ts'
import { Rig } from './rig.ts'
import { type Figures, isTimed } from './scenario.ts'
import { anyInstance } from './scenarios/any-instance.ts'
import { apisKilled } from './scenarios/apis-killed.ts'
import { chaos } from './scenarios/chaos.ts'
import { cutStream } from './scenarios/cut-stream.ts'
import { outage } from './scenarios/outage.ts'
import { stopAfterReload, stopElsewhere, stopQueued } from './scenarios/stop.ts'
import { workerFrozen, workerKilled } from './scenarios/worker-lost.ts'

export const SCENARIOS = [
  anyInstance,
  cutStream,
  workerKilled,
  workerFrozen,
  apisKilled,
  outage,
  chaos,
  stopElsewhere,
  stopAfterReload,
  stopQueued,
]

export interface Played {
  scenario: string
  figures: Figures
  error: string | null
  /** The figures that took longer than their bound. */
  tooSlow: string[]
}

export async function accept(options: { isShort: boolean; only?: string; onPlayed?: (played: Played) => void }): Promise<Played[]> {
  await using rig = await Rig.open(await bundlePage())
  await using chromium = await Chromium.launch()
  const all: Played[] = []
  for (const { name, play } of SCENARIOS.filter(({ name }) => name.includes(options.only ?? ''))) {
    const played = await play({ rig, chromium, isShort: options.isShort }).then(
      (figures) => ({ scenario: name, figures, error: null, tooSlow: tooSlow(figures) }),
      (error: unknown) => ({
        scenario: name,
        figures: {},
        error: error instanceof Error ? String(error.stack) : String(error),
        tooSlow: [],
      }),
    )
    all.push(played)
    options.onPlayed?.(played)
  }
  return all
}

function tooSlow(figures: Figures): string[] {
  return Object.entries(figures).flatMap(([name, figure]) => (isTimed(figure) && figure.ms > figure.boundMs ? name : []))
}
