// @coji/durably-ui/page — the dashboard as files that any server can serve, without a build and without a request to anybody else.
import { script } from './bundled.js'
import { ICON, pageHtml, STYLE } from './page-html.ts'

/** A file to serve. */
export interface PageFile {
  /** Its name, below the address of the page. */
  readonly path: string
  /** What to send as `Content-Type`. */
  readonly contentType: string
  /** What it contains. */
  readonly body: string
}

/** The options of `dashboardPage`. */
export interface DashboardPageOptions {
  /** Where the server of `@coji/durably/server` is mounted: a path such as `/api/durably`, or a URL. */
  api: string
  /**
   * The address under which the files are served, ending with a slash, such as `/admin/durably/`. Default `./`: the files are beside the page, so
   * its own address must end with a slash.
   */
  base?: string
}

/**
 * The files of a page with the dashboard, `index.html` first. The page allows no code and no address but these (Content-Security-Policy).
 *
 * @example for (const { path, contentType, body } of dashboardPage({ api: '/api/durably' })) serve(path, contentType, body)
 */
export function dashboardPage({ api, base = './' }: DashboardPageOptions): PageFile[] {
  if (typeof api !== 'string' || !URL.canParse(api, 'http://localhost'))
    throw new TypeError(`api must be the path or URL of the server, such as "/api/durably", got ${JSON.stringify(api)}`)
  if (typeof base !== 'string' || !base.endsWith('/'))
    throw new TypeError(`base must end with a slash, such as "/admin/durably/", got ${JSON.stringify(base)}`)
  return [
    { path: 'index.html', contentType: 'text/html; charset=utf-8', body: pageHtml(api, base) },
    { path: 'dashboard.js', contentType: 'text/javascript; charset=utf-8', body: script },
    { path: 'dashboard.css', contentType: 'text/css; charset=utf-8', body: STYLE },
    { path: 'icon.svg', contentType: 'image/svg+xml', body: ICON },
  ]
}
