// A link to another page of the dashboard. Opening it in another tab stays possible.
import { html, type TemplateResult } from 'lit'
import type { App } from '../app.ts'
import type { Route } from '../route.ts'

interface LinkLook {
  class?: string
  label?: string
  /** `page`: it leads to the page that is shown. */
  current?: 'page' | 'false'
}

export function link(app: App, route: Route, content: unknown, look: LinkLook = {}): TemplateResult {
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    app.go(route)
  }
  return html`<a class=${look.class ?? ''} href=${app.href(route)} aria-current=${look.current ?? 'false'} @click=${follow}>${content}</a>`
}
