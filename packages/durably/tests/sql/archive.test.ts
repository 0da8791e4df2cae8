// The tables of the archive: on a database that older code has filled, and beside older code.
import { describe, expect, test } from 'vitest'
import { BACK_TO_VERSION_8 } from './back-to-version.ts'
import { migratedStore } from './place.ts'
import { PLACES, run } from './places.ts'
import { newRun } from './runs.ts'

const ALL = { after: '', before: '~', limit: 10 }

describe.each(PLACES)('the archive on $name', ({ name, dialect }) => {
  test('a database that version 8 has filled can be archived', async () => {
    const store = await migratedStore(await dialect())
    const old = newRun()
    await store.runs.create([old])
    await store.runs.cancel(old.id)
    for (const statement of BACK_TO_VERSION_8[name === 'SQLite' ? 'sqlite' : 'postgres']) await run(store, statement)
    await store.migrate()
    expect((await store.runs.get(old.id))?.logRef).toBe(null)
    expect(await store.archive.candidates(ALL)).toEqual([old.id])
    expect(await store.archive.begin([old.id], 0)).toMatchObject([{ id: old.id, logRef: '' }])
  })

  test('a run that older code or a statement of the user deletes is noted, if files of it may exist', async () => {
    const store = await migratedStore(await dialect())
    const [begun, other] = [newRun(), newRun()]
    await store.runs.create([begun, other])
    for (const { id } of [begun, other]) await store.runs.cancel(id)
    await store.archive.begin([begun.id], 0)
    await run(store, 'DELETE FROM runs')
    expect(await store.archive.removed(10)).toEqual([begun.id])
  })
})
