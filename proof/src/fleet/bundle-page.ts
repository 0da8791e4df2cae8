// The page of the fleet, as the proxy serves it: one document and one script.
import { join } from 'node:path'
import { build, type Rollup } from 'vite'
import { REPO } from '../engine-build.ts'

const DOCUMENT = `<!doctype html><meta charset="utf-8"><title>One run</title>
<p><b id="status">loading</b> · <span id="connection"></span> <button id="stop">Stop</button></p>
<pre id="transcript"></pre><script type="module" src="/page.js"></script>`

export async function bundlePage(): Promise<ReadonlyMap<string, { type: string; body: string }>> {
  const entry = join(REPO, 'proof', 'src', 'fleet', 'page.ts')
  const { output } = (await build({
    configFile: false,
    logLevel: 'error',
    build: { write: false, target: 'esnext', rollupOptions: { input: entry, preserveEntrySignatures: false } },
  })) as Rollup.RollupOutput
  return new Map([
    ['/', { type: 'text/html', body: DOCUMENT }],
    ['/page.js', { type: 'text/javascript', body: output[0].code }],
  ])
}
