// The frame's side: the pages, what the host adds, the colours, the keys. On a phone it is at the top.
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../app.ts'
import type { DashboardControl } from '../dashboard-options.ts'
import { HOME, type Route } from '../route.ts'
import { errorText } from '../state/error-text.ts'
import type { Theme } from '../theme.ts'
import { type IconName, icon } from './icon.ts'
import { link } from './link.ts'

interface SideBar {
  readonly route: Route
  readonly theme: Theme
  readonly controls: readonly DashboardControl[]
  switchTheme(): void
  help(): void
}

const THEME_ICONS: { readonly [theme in Theme]: IconName } = { auto: 'auto', light: 'sun', dark: 'moon' }

export function sideBar(app: App, { route, theme, controls, switchTheme, help }: SideBar): TemplateResult {
  const { cluster } = app
  return html`<header class="side">
    <p class="brand"><span class="logo" aria-hidden="true"></span>Durably</p>
    <nav aria-label="Dashboard">
      ${entry(app, route, HOME, 'runs', 'Runs', ['runs', 'run'])} ${entry(app, route, { page: 'jobs' }, 'jobs', 'Jobs', ['jobs', 'job'])}
      ${entry(app, route, { page: 'activity' }, 'activity', 'Activity', ['activity'])}
      ${cluster?.schedules ? entry(app, route, { page: 'schedules' }, 'schedules', 'Schedules', ['schedules']) : nothing}
      ${cluster?.workers || cluster?.leader ? entry(app, route, { page: 'workers' }, 'workers', 'Workers', ['workers']) : nothing}
      ${cluster?.audit ? entry(app, route, { page: 'audit' }, 'check', 'Audit', ['audit']) : nothing}
    </nav>
    ${controls.length > 0 ? html`<div class="controls" role="group" aria-label="Controls">${controls.map((control) => controlButton(app, control))}</div>` : nothing}
    <div class="side-end">
      <button class="quiet small" title=${`Colours: ${theme}`} aria-label=${`Colours: ${theme}`} @click=${switchTheme}>${icon(THEME_ICONS[theme])}</button>
      <button class="quiet small" title="Keys" aria-label="Keys" @click=${help}>${icon('help')}</button>
    </div>
  </header>`
}

function entry(app: App, shown: Route, to: Route, name: IconName, label: string, pages: readonly Route['page'][]): TemplateResult {
  const isCurrent = pages.includes(shown.page)
  return link(app, to, html`${icon(name)}<span>${label}</span>`, { class: 'entry', current: isCurrent ? 'page' : 'false' })
}

function controlButton(app: App, control: DashboardControl): TemplateResult {
  const press = () =>
    control.press().then(
      (said) => app.say(said),
      (error) => app.say(errorText(error), 'bad'),
    )
  return html`<button class="quiet small ${control.isDangerous ? 'danger' : ''}" title=${control.title} @click=${press}>${control.label}</button>`
}
