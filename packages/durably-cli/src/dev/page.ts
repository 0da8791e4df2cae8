// What a browser gets: the dashboard if @coji/durably-ui is installed, a plain page otherwise, and the buttons of `durably dev` on both.
import { readFileSync } from 'node:fs'

/** `null` if there is no such file. */
export type DevPage = (path: string) => Response | null

interface PageFile {
  path: string
  contentType: string
  body: string | Uint8Array
}

const CONTROLS = '/dev/page/controls.js'
const STYLE = '/dev/page/controls.css'
const POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

export async function devPage(): Promise<{ page: DevPage; hasDashboard: boolean }> {
  const dashboard = await dashboardFiles()
  const [index, ...rest] = dashboard ?? [PLAIN]
  const files = new Map<string, PageFile>([...rest, ...controlFiles()].map((file) => [rooted(file.path), file]))
  const start = { path: '/', contentType: 'text/html; charset=utf-8', body: withControls(textOf(index?.body ?? '')) }
  for (const path of ['/', '/index.html']) files.set(path, start)
  const page: DevPage = (path) => {
    const file = files.get(path)
    if (!file) return null
    const headers = {
      'Content-Type': file.contentType,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': POLICY,
    }
    return new Response(file.body as BodyInit, { headers })
  }
  return { page, hasDashboard: dashboard !== null }
}

/** The package is optional, and may not be there. */
async function dashboardFiles(): Promise<readonly PageFile[] | null> {
  const name = '@coji/durably-ui/page'
  try {
    const { dashboardPage } = (await import(name)) as { dashboardPage: (options: { api: string }) => readonly PageFile[] }
    return dashboardPage({ api: '/api' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return null
    throw error
  }
}

const controlFiles = (): readonly PageFile[] => [
  { path: CONTROLS, contentType: 'text/javascript; charset=utf-8', body: readFileSync(new URL('./page/controls.js', import.meta.url)) },
  {
    path: STYLE,
    contentType: 'text/css; charset=utf-8',
    // A bar below the page, which becomes shorter: nothing of it is covered.
    body: `body { display: flex; flex-direction: column }
durably-dashboard { flex: 1; min-height: 0 }
durably-dev-controls { flex: none; margin-top: auto; display: flex; flex-wrap: wrap; gap: 6px; align-items: center;
  padding: 8px 12px; border-top: 1px solid #8886; background: Canvas; color: CanvasText; font: 13px/1.4 system-ui, sans-serif }
durably-dev-controls button { font: inherit; padding: 4px 10px; border: 1px solid #8886; border-radius: 6px; background: ButtonFace; color: ButtonText; cursor: pointer }
durably-dev-controls button[aria-pressed=true] { background: #b45309; color: white }
durably-dev-controls pre { flex-basis: 100%; max-height: 20vh; overflow: auto; margin: 0; padding: 8px; border-radius: 6px; background: #b91c1c; color: white; white-space: pre-wrap }
durably-dev-controls [role=status] { margin-left: auto; opacity: .8 }`,
  },
]

const PLAIN: PageFile = {
  path: 'index.html',
  contentType: 'text/html; charset=utf-8',
  body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>Durably dev</title></head><body><h1>Durably dev</h1>
<p>The API is at <a href="/api/runs">/api/runs</a>, what runs here at <a href="/dev/state">/dev/state</a>.</p>
<p><code>npm install @coji/durably-ui</code> and a restart bring the dashboard.</p></body></html>`,
}

function withControls(html: string): string {
  return html.replace('</head>', `<link rel="stylesheet" href="${STYLE}"><script type="module" src="${CONTROLS}"></script></head>`)
}

function rooted(path: string): string {
  return path.startsWith('/') ? path : `/${path}`
}

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}
