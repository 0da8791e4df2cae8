// The lines of counts over time as shapes: where each one goes in a picture of this size, and what its axes say.
import type { Phase } from '@coji/durably/client'
import { scaleLinear, scaleTime } from 'd3-scale'
import { curveStepAfter, line } from 'd3-shape'
import type { CountSample } from '../state/count-samples.ts'

export interface Size {
  readonly width: number
  readonly height: number
}

export interface CountLines {
  readonly lines: readonly { readonly phase: Phase; readonly path: string }[]
  readonly times: readonly Tick[]
  readonly counts: readonly Tick[]
}

export interface Tick {
  readonly at: number
  readonly text: string
}

/** Room for the texts of the axes. */
export const MARGIN = { top: 8, right: 12, bottom: 22, left: 44 } as const
const SHORTEST_MS = 60_000
const SMALLEST_COUNT = 4
const PX_PER_TIME = 110

export function countLines(samples: readonly CountSample[], phases: readonly Phase[], { width, height }: Size): CountLines {
  const first = samples[0]?.at ?? 0
  const last = Math.max(samples.at(-1)?.at ?? 0, first + SHORTEST_MS)
  const most = Math.max(SMALLEST_COUNT, ...samples.flatMap(({ counts }) => phases.map((phase) => counts[phase])))
  const x = scaleTime([new Date(first), new Date(last)], [MARGIN.left, width - MARGIN.right])
  const y = scaleLinear([0, most], [height - MARGIN.bottom, MARGIN.top]).nice(4)
  const timeText = x.tickFormat()
  const countText = y.tickFormat(4, '~s')
  const lineOf = (phase: Phase) =>
    line<CountSample>(
      ({ at }) => x(at),
      ({ counts }) => y(counts[phase]),
    ).curve(curveStepAfter)
  return {
    lines: phases.map((phase) => ({ phase, path: lineOf(phase)(samples) ?? '' })),
    times: x.ticks(Math.max(2, Math.floor(width / PX_PER_TIME))).map((time) => ({ at: x(time), text: timeText(time) })),
    counts: y.ticks(4).map((count) => ({ at: y(count), text: countText(count) })),
  }
}
