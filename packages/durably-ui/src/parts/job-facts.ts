// The figures of a job, side by side.
import { html, nothing, type TemplateResult } from 'lit'
import type { JobFigures } from '../figures/job-figures.ts'
import { durationInWords } from '../words/duration.ts'
import { numberInWords } from '../words/plural.ts'

export function jobFacts({ runs, completed, failed, open, successRate, perHour, medianMs, p95Ms }: JobFigures): TemplateResult {
  return html`<div class="share" role="img" aria-label=${`${completed} completed, ${failed} failed, ${open} open`}>
      ${[[completed, 'good'] as const, [failed, 'bad'] as const, [open, 'active'] as const].map(([count, tone]) =>
        count > 0 ? html`<i class=${tone} .style=${`flex:${count}`}></i>` : nothing,
      )}
    </div>
    <dl class="figures">
      ${figure('Runs', numberInWords(runs))} ${figure('Success', successRate === null ? '–' : `${floorPercent(successRate)} %`)}
      ${figure('Per hour', numberInWords(perHour < 10 ? Number(perHour.toFixed(1)) : Math.round(perHour)))}
      ${figure('Median', medianMs === null ? '–' : durationInWords(medianMs))} ${figure('95 %', p95Ms === null ? '–' : durationInWords(p95Ms))}
    </dl>`
}

function figure(name: string, value: string): TemplateResult {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`
}

/** 100 % only if none has failed. */
function floorPercent(rate: number): number {
  return Math.floor(rate * 1000) / 10
}
