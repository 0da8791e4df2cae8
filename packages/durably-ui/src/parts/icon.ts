// The icons, drawn in a square of 16. They say nothing to a screen reader: the text beside them does.
import { html, type SVGTemplateResult, svg, type TemplateResult } from 'lit'

const ICONS = {
  runs: svg`<path d="M2.5 4h1M6 4h7.5M2.5 8h1M6 8h7.5M2.5 12h1M6 12h7.5"/>`,
  jobs: svg`<path d="M8 1.8 13.5 5v6L8 14.2 2.5 11V5zM2.7 5.1 8 8.1l5.3-3M8 8.1v6"/>`,
  activity: svg`<path d="M1.5 9.5h3l2-6 3 9.5 2-5.5h3"/>`,
  schedules: svg`<circle cx="8" cy="8" r="6"/><path d="M8 4.5V8l2.3 1.6"/>`,
  workers: svg`<rect x="2" y="2.5" width="12" height="4.5" rx="1"/><rect x="2" y="9" width="12" height="4.5" rx="1"/><path d="M4.7 4.8h.01M4.7 11.3h.01"/>`,
  search: svg`<circle cx="7" cy="7" r="4.5"/><path d="m10.4 10.4 3.2 3.2"/>`,
  sun: svg`<circle cx="8" cy="8" r="2.8"/><path d="M8 1.2v1.6M8 13.2v1.6M1.2 8h1.6M13.2 8h1.6M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M3.2 12.8l1.1-1.1M11.7 4.3l1.1-1.1"/>`,
  moon: svg`<path d="M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1z"/>`,
  auto: svg`<circle cx="8" cy="8" r="5.8"/><path d="M8 2.2v11.6a5.8 5.8 0 0 0 0-11.6z" fill="currentColor" stroke="none"/>`,
  plus: svg`<path d="M8 3v10M3 8h10"/>`,
  close: svg`<path d="m4 4 8 8M12 4l-8 8"/>`,
  left: svg`<path d="m9.8 3.5-4.5 4.5 4.5 4.5"/>`,
  right: svg`<path d="m6.2 3.5 4.5 4.5-4.5 4.5"/>`,
  down: svg`<path d="m3.5 6.2 4.5 4.5 4.5-4.5"/>`,
  retry: svg`<path d="M13 4.5A5.8 5.8 0 1 0 13.8 9M13.3 1.8v3h-3"/>`,
  stop: svg`<circle cx="8" cy="8" r="5.8"/><path d="M4 12 12 4"/>`,
  trash: svg`<path d="M2.5 4.2h11M6 4V2.5h4V4M4 4.5l.6 9h6.8l.6-9"/>`,
  send: svg`<path d="M14 2 7 9M14 2 9.6 14 7 9 2 6.4z"/>`,
  copy: svg`<rect x="5.5" y="5.5" width="8" height="8" rx="1.2"/><path d="M10.5 5.5v-3h-8v8h3"/>`,
  download: svg`<path d="M8 2v8M4.8 7 8 10.2 11.2 7M2.5 13.5h11"/>`,
  help: svg`<circle cx="8" cy="8" r="6"/><path d="M6.2 6.2a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.8.6-.8 1.2M8 11.4h.01"/>`,
  check: svg`<circle cx="8" cy="8" r="5.8"/><path d="m5.4 8.2 1.8 1.8 3.4-3.8"/>`,
  cross: svg`<circle cx="8" cy="8" r="5.8"/><path d="m6 6 4 4M10 6l-4 4"/>`,
  ring: svg`<circle cx="8" cy="8" r="5.8"/>`,
  dashes: svg`<circle cx="8" cy="8" r="5.8" stroke-dasharray="2.2 2.35"/>`,
  pause: svg`<circle cx="8" cy="8" r="5.8"/><path d="M6.5 6v4M9.5 6v4"/>`,
  spin: svg`<circle cx="8" cy="8" r="5.8" opacity=".25"/><path d="M8 2.2A5.8 5.8 0 0 1 13.8 8" class="spin"/>`,
  alert: svg`<path d="M8 2.2 14.3 13H1.7zM8 6.5v3M8 11.3h.01"/>`,
} satisfies { [name: string]: SVGTemplateResult }

export type IconName = keyof typeof ICONS

export function icon(name: IconName): TemplateResult {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">${ICONS[name]}</svg>`
}
