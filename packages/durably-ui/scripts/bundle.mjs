// Writes dist/page/bundled.js: the script of the dashboard's page as a text, so that a server needs neither a build nor files to serve it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const inDist = (name) => fileURLToPath(new URL(`../dist/page/${name}`, import.meta.url))

const { output } = await build({
  configFile: false,
  logLevel: 'error',
  mode: 'production',
  build: {
    write: false,
    target: 'es2022',
    modulePreload: false,
    rolldownOptions: { input: inDist('main.js'), output: { codeSplitting: false } },
  },
})
const chunks = output.filter(({ type }) => type === 'chunk')
if (chunks.length !== 1) throw new Error(`the page must have one script, got ${chunks.map(({ fileName }) => fileName).join(', ')}`)
mkdirSync(inDist('.'), { recursive: true })
writeFileSync(inDist('bundled.js'), `export const script = ${JSON.stringify(chunks[0].code)}\n`)
