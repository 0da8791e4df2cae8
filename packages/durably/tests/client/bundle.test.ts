// What a page pays for the client: neither the engine nor Kysely nor a module of Node, and few bytes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { describe, expect, onTestFinished, test } from 'vitest'

const SRC = fileURLToPath(new URL('../../src/', import.meta.url))

async function bundle(code: string): Promise<{ modules: string[]; bytes: number; imports: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'durably-bundle-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const entry = join(folder, 'entry.js')
  writeFileSync(entry, code)
  const output = (await build({
    configFile: false,
    logLevel: 'silent',
    build: { write: false, target: 'es2022', modulePreload: false, rolldownOptions: { input: entry, preserveEntrySignatures: 'strict' } },
  })) as Rolldown.RolldownOutput
  const chunks = output.output.filter((chunk) => chunk.type === 'chunk')
  return {
    modules: chunks.flatMap(({ modules }) => Object.keys(modules)).filter((id) => id !== entry),
    bytes: chunks.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0),
    imports: chunks.flatMap(({ imports }) => imports),
  }
}

/** Of `src`; what comes from elsewhere is named in full. */
function foldersOf(modules: string[]): (string | undefined)[] {
  return [...new Set(modules.map((id) => (id.startsWith(SRC) ? id.slice(SRC.length).split('/')[0] : id)))].sort()
}

describe('importing @coji/durably/client', () => {
  test('pulls no engine, no Kysely and no module of Node', async () => {
    const { modules, imports } = await bundle(`export * from '${SRC}client/index.ts'`)
    expect(imports).toEqual([])
    expect(foldersOf(modules)).toEqual(['client', 'model'])
    // The engine would be noticed.
    const engine = await bundle(`export { createDurably } from '${SRC}index.ts'`)
    expect(foldersOf(engine.modules)).toEqual(expect.arrayContaining(['worker', 'store']))
    expect(engine.modules.join()).toContain('/kysely/')
  })

  test('@coji/durably/client/cluster pulls no more, and is small', async () => {
    const { modules, imports } = await bundle(`export * from '${SRC}client/cluster/index.ts'`)
    expect(imports).toEqual([])
    expect(foldersOf(modules)).toEqual(['client', 'model'])
    const { bytes } = await bundle(`export { httpClusterClient } from '${SRC}client/cluster/index.ts'`)
    expect(bytes).toBeLessThan(5000)
  })

  test.each([
    ['all of it', '*', 9000],
    ['httpClient', '{ httpClient }', 8100],
    ['localClient', '{ localClient }', 1000],
  ])('%s is small: minified and gzipped', async (_, names, bytesMax) => {
    const { bytes } = await bundle(`export ${names} from '${SRC}client/index.ts'`)
    expect(bytes).toBeLessThan(bytesMax)
  })
})
