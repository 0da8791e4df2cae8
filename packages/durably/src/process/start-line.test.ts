import { expect, test } from 'vitest'
import { createDurably } from '../durably.ts'
import { ENGINE } from '../engine.ts'
import { memoryStore } from '../memory.ts'
import { postgres } from '../postgres/index.ts'
import { sqlite } from '../sqlite/index.ts'
import { startLine } from './start-line.ts'

test.each([
  [{ dialect: sqlite('app.db') }, 'durably: working on sqlite app.db, 0 jobs, 1 at once; Ctrl-C gives runs back'],
  [
    { dialect: postgres('postgres://ada:secret@db.example:5433/app?password=secret') },
    'durably: working on postgres db.example:5433/app, 0 jobs, 1 at once; Ctrl-C gives runs back',
  ],
  [{ store: memoryStore() }, 'durably: working on its own store, 0 jobs, 1 at once; Ctrl-C gives runs back'],
])('the line at the start names the place without a password', (options, line) => {
  expect(startLine(createDurably({ ...options, logger: false })[ENGINE], true)).toBe(line)
})
