import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { checkWasmVersion } from './wasm-version.ts'

test('a sqlite-wasm that is too old is refused, with the command that installs the tested one', () => {
  const { version } = JSON.parse(readFileSync('node_modules/@sqlite.org/sqlite-wasm/package.json', 'utf8')) as { version: string }
  expect(() => checkWasmVersion({ libVersion: '3.41.2', libVersionNumber: 3_041_002 })).toThrow(
    `browserDialect() needs @sqlite.org/sqlite-wasm 3.50.0 or later, and 3.41.2 is installed: npm install @sqlite.org/sqlite-wasm@${version}`,
  )
  expect(() => checkWasmVersion({ libVersion: '3.49.2', libVersionNumber: 3_049_002 })).toThrow('3.49.2')
  checkWasmVersion({ libVersion: '3.50.0', libVersionNumber: 3_050_000 })
})
