// CountsChart — lines of counts over time, as wide as its place.
import type { Phase } from '@coji/durably/client'
import { html, LitElement, svg, type TemplateResult } from 'lit'
import { countLines, MARGIN } from '../figures/count-lines.ts'
import type { CountSample } from '../state/count-samples.ts'
import { define } from '../views/view.ts'
import { PHASE_WORDS } from '../words/phase.ts'
import { numberInWords } from '../words/plural.ts'

const HEIGHT_PX = 260
const WIDTH_AT_FIRST_PX = 600

class CountsChart extends LitElement {
  static override properties = { samples: { attribute: false }, phases: { attribute: false } }
  declare samples: readonly CountSample[]
  declare phases: readonly Phase[]
  readonly #resized = new ResizeObserver(() => this.requestUpdate())

  protected override createRenderRoot(): HTMLElement {
    return this
  }

  override connectedCallback(): void {
    super.connectedCallback()
    this.#resized.observe(this)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.#resized.disconnect()
  }

  protected override render(): TemplateResult {
    const width = this.clientWidth || WIDTH_AT_FIRST_PX
    const { lines, times, counts } = countLines(this.samples, this.phases, { width, height: HEIGHT_PX })
    const last = this.samples.at(-1)
    const words = this.phases.map((phase) => `${PHASE_WORDS[phase].label} ${numberInWords(last?.counts[phase] ?? 0)}`)
    return html`<svg class="chart" width=${width} height=${HEIGHT_PX} role="img" aria-label=${`Runs by phase over time; now: ${words.join(', ') || 'none'}`}>
      ${counts.map(
        ({ at, text }) => svg`<line class="grid" x1=${MARGIN.left} x2=${width - MARGIN.right} y1=${at} y2=${at}></line>
          <text x=${MARGIN.left - 10} y=${at + 4} text-anchor="end">${text}</text>`,
      )}
      ${times.map(({ at, text }) => svg`<text x=${at} y=${HEIGHT_PX - 5} text-anchor="middle">${text}</text>`)}
      ${lines.map(({ phase, path }) => svg`<path class="line phase-${phase}" d=${path}></path>`)}
    </svg>`
  }
}

define('durably-counts-chart', CountsChart)
