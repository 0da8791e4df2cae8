// The children of a run, as a tree whose branches are opened one by one.
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../app.ts'
import { ALL_RUNS } from '../route.ts'
import { CHILDREN_MAX, type ChildRuns } from '../state/child-runs.ts'
import { icon } from './icon.ts'
import { link } from './link.ts'
import { elapsed } from './moment.ts'
import { phaseMark } from './phase-badge.ts'

export function runTree(app: App, children: ChildRuns, parentId: string, now: number): TemplateResult {
  const page = children.pages.get(parentId)
  if (!page) return html`<p class="hint">Loading…</p>`
  if (page.runs.length === 0) return html`<p class="hint">It has triggered none.</p>`
  const more = { ...ALL_RUNS, search: `parent:${parentId}` }
  return html`<ul class="tree">
    ${page.runs.map((run) => {
      const isOpen = children.opened.has(run.id)
      return html`<li>
        <div class="branch">
          <button class="quiet small twig" aria-expanded=${isOpen} aria-label=${`Children of ${run.jobName}`} @click=${() => children.toggle(run.id)}>
            ${icon(isOpen ? 'down' : 'right')}
          </button>
          ${phaseMark(run.phase)} ${link(app, { page: 'run', id: run.id }, run.jobName, { class: 'name' })}
          <span class="took">${elapsed(run.startedAt, run.finishedAt, now)}</span>
        </div>
        ${isOpen ? runTree(app, children, run.id, now) : nothing}
      </li>`
    })}
    ${page.hasMore ? html`<li class="hint">The newest ${CHILDREN_MAX}. ${link(app, { page: 'runs', query: more }, 'All of them')}</li>` : nothing}
  </ul>`
}
