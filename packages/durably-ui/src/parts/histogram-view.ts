// How long the runs of a job take, as bars.
import { html, type TemplateResult } from 'lit'
import { histogramOf } from '../figures/histogram.ts'
import { durationInWords } from '../words/duration.ts'
import { counted } from '../words/plural.ts'

export function histogramView(durationsMs: readonly number[]): TemplateResult {
  const bars = histogramOf(durationsMs)
  if (bars.length === 0) return html`<p class="hint">None of them has completed.</p>`
  const most = Math.max(...bars.map(({ count }) => count))
  const words = ({ fromMs, toMs, count }: (typeof bars)[number]) =>
    `${durationInWords(fromMs)} to ${durationInWords(toMs)}: ${counted(count, 'run')}`
  return html`<figure class="histogram">
    <div class="bars" role="img" aria-label=${`Durations. ${bars
      .filter(({ count }) => count > 0)
      .map(words)
      .join('; ')}`}>
      ${bars.map((bar) => html`<span class="column" title=${words(bar)}><i .style=${`height:${((100 * bar.count) / most).toFixed(1)}%`}></i></span>`)}
    </div>
    <figcaption><span>${durationInWords(bars[0]?.fromMs ?? 0)}</span><span>${durationInWords(bars.at(-1)?.toMs ?? 0)}</span></figcaption>
  </figure>`
}
