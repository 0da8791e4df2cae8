// What a page pays for the hooks: React and the client are there anyway, nothing else is needed, and they are few bytes.
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { expect, test } from 'vitest'

const BYTES_MAX = 4500

test('the hooks import React and the client, nothing else, and are small: minified and gzipped', async () => {
  const entry = fileURLToPath(new URL('../dist/index.js', import.meta.url))
  const external = /^(?:react|@coji\/durably)(?:$|\/)/
  const { output } = (await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: { input: entry, external, preserveEntrySignatures: 'strict' },
    },
  })) as Rolldown.RolldownOutput
  const [chunk, ...others] = output.flatMap((file) => (file.type === 'chunk' ? [file] : []))
  expect(others).toStrictEqual([])
  expect(chunk?.imports.toSorted()).toStrictEqual(['@coji/durably/client', 'react', 'react/jsx-runtime'])
  expect(gzipSync(chunk?.code ?? '', { level: 9 }).length).toBeLessThan(BYTES_MAX)
})
