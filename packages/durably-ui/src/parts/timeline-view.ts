// The timeline of a run: a lane for its workers, and one for each step. Under it the same in words, for readers who do not see bars.
import { html, nothing, type TemplateResult } from 'lit'
import { type Scale, scaleOf } from '../timeline/scale.ts'
import type { StepAttempt, StepLane, Timeline, Turn } from '../timeline/timeline.ts'
import { durationInWords } from '../words/duration.ts'
import { counted } from '../words/plural.ts'
import { turnInWords } from '../words/turn.ts'
import { workerColour } from './worker-colour.ts'

const LANES_MAX = 100

export interface TimelineLook {
  readonly now: number
  /** The run has ended. */
  readonly isOver: boolean
  /** A worker has started it at least once. */
  readonly hasStarted: boolean
  /** It has events that have not come yet: they may be large. */
  readonly isLoading: boolean
  /** The step whose result is shown. */
  readonly chosen: string | null
  choose(step: string): void
}

export function timelineView(timeline: Timeline, look: TimelineLook): TemplateResult {
  const { span, turns, steps } = timeline
  if (!span || turns.length + steps.length === 0) return html`<p class="hint">${emptyInWords(look)}</p>`
  const scale = scaleOf(timeline, look.isOver ? null : look.now)
  const shown = steps.slice(-LANES_MAX)
  return html`<div class="timeline">
      ${axis(scale, span.from)}
      <div class="lane owners">
        <span class="lane-name">Workers</span>
        <div class="track">
          ${scale.breaks.map(({ from, to }) => bar(scale, from, to, 'break', `${durationInWords(to - from)} without a worker`))}
          ${turns.map((turn) => turnBars(scale, turn, look.now))}
        </div>
      </div>
      ${steps.length > shown.length ? html`<p class="hint">The last ${LANES_MAX} of ${counted(steps.length, 'step')}.</p>` : nothing}
      ${shown.map((lane) => stepLane(scale, lane, timeline, look))}
    </div>
    <ol class="turns" aria-label="Who held the run">
      ${turns.map((turn, i) => html`<li><span class="dot ${workerColour(turn.workerId)}"></span>${turnInWords(turn, look.now, i)}</li>`)}
    </ol>`
}

function emptyInWords({ hasStarted, isLoading, isOver }: TimelineLook): string {
  if (isLoading) return 'Loading…'
  if (hasStarted) return 'None of its events is left.'
  return isOver ? 'It ended before a worker started it.' : 'It has not started yet.'
}

/** The length of what is shown, and where time was shortened. */
function axis(scale: Scale, from: number): TemplateResult {
  return html`<div class="lane axis" aria-hidden="true">
    <span class="lane-name"></span>
    <div class="track">
      <span class="tick first">${new Date(from).toLocaleTimeString([], { hour12: false })}</span>
      ${breakTicks(scale).map(({ percent, text }) => html`<span class="tick" .style=${`left:${percent.toFixed(2)}%`}>${text}</span>`)}
      <span class="tick last">${durationInWords(scale.end - from)}</span>
    </div>
  </div>`
}

/** Only where they have room beside the others; the bars say the rest. */
const TICK_PERCENT = 14

function breakTicks(scale: Scale): { percent: number; text: string }[] {
  const ticks: { percent: number; text: string }[] = []
  for (const { from, to } of scale.breaks) {
    const percent = 50 * (scale.position(from) + scale.position(to))
    const before = ticks.at(-1)?.percent ?? 0
    if (percent - before >= TICK_PERCENT && percent <= 100 - TICK_PERCENT) ticks.push({ percent, text: durationInWords(to - from) })
  }
  return ticks
}

function turnBars(scale: Scale, turn: Turn, now: number): unknown {
  const to = turn.to ?? now
  const words = turnInWords(turn, now, 0)
  const name = turn.workerId ?? 'a worker'
  if (turn.end !== 'lost') return bar(scale, turn.from, to, `turn ${workerColour(turn.workerId)} ${turn.end ?? 'running'}`, words, name)
  return [
    bar(scale, turn.from, Math.max(turn.lastSeen, turn.from), `turn ${workerColour(turn.workerId)} lost`, words, name),
    bar(
      scale,
      turn.lastSeen,
      to,
      'silence',
      `No sign of ${name} for ${durationInWords(to - turn.lastSeen)}, then the run was taken back`,
      'silent',
    ),
  ]
}

function stepLane(scale: Scale, lane: StepLane, { turns }: Timeline, { now, chosen, choose }: TimelineLook): TemplateResult {
  const isChosen = lane.name === chosen
  return html`<button class="lane step ${isChosen ? 'chosen' : ''}" aria-expanded=${isChosen} @click=${() => choose(lane.name)}>
    <span class="lane-name" title=${lane.name}>${lane.name}</span>
    <span class="track">
      ${lane.attempts.map((attempt) =>
        bar(
          scale,
          attempt.from,
          attempt.to ?? now,
          `attempt ${outcomeClass(attempt)}`,
          attemptInWords(lane, attempt, turns[attempt.turn]?.workerId ?? null, now),
        ),
      )}
    </span>
    <span class="lane-took">${laneTook(lane, now)}</span>
    <span class="hidden">${lane.attempts.map(({ outcome }) => outcome).join(', ')}</span>
  </button>`
}

function bar(scale: Scale, from: number, to: number, look: string, title: string, text = ''): TemplateResult {
  const left = scale.position(from) * 100
  const width = Math.max(0, scale.position(to) * 100 - left)
  return html`<span class="bar ${look}" title=${title} .style=${`left:${left.toFixed(3)}%;width:${width.toFixed(3)}%`}>${text}</span>`
}

function outcomeClass({ outcome }: StepAttempt): string {
  return outcome.replaceAll(' ', '-')
}

function laneTook({ attempts }: StepLane, now: number): string {
  const last = attempts.at(-1)
  return last ? durationInWords((last.to ?? now) - last.from) : ''
}

function attemptInWords({ name }: StepLane, { outcome, from, to, error }: StepAttempt, workerId: string | null, now: number): string {
  const on = workerId === null ? '' : ` on ${workerId}`
  return `${name}: ${outcome} after ${durationInWords((to ?? now) - from)}${on}${error ? ` (${error.slice(0, 200)})` : ''}`
}
