// The files of an archive in a folder: whole or not there, and below the root whatever is asked.
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folder } from '../../src/archive-folder/index.ts'
import { temporaryDirectory } from '../sql/place.ts'

const NAME = '01ABC/01ABCDEF/1-5-abc.ndjson.gz'
const PREFIX = '01ABC/01ABCDEF/'
const bytes = (text: string) => new TextEncoder().encode(text)

describe('folder', () => {
  test('keeps files, replaces one of the same name, and removes those of a run', async () => {
    const root = join(temporaryDirectory(), 'new', 'archive')
    const files = folder(root)
    expect(await files.read(NAME)).toBe(null)
    await files.remove(PREFIX)
    await files.write(NAME, bytes('one'))
    await files.write(NAME, bytes('two'))
    await files.write('01ABC/OTHER/1-5-abc.ndjson.gz', bytes('other'))
    expect(await folder(root).read(NAME)).toEqual(bytes('two'))
    expect(readdirSync(join(root, PREFIX))).toEqual(['1-5-abc.ndjson.gz'])
    await files.remove(PREFIX)
    expect(await files.read(NAME)).toBe(null)
    expect(await files.read('01ABC/OTHER/1-5-abc.ndjson.gz')).toEqual(bytes('other'))
  })

  test('many writers of one file leave one whole file', async () => {
    const root = temporaryDirectory()
    const text = 'x'.repeat(100_000)
    await Promise.all(Array.from({ length: 20 }, () => folder(root).write(NAME, bytes(text))))
    expect(await folder(root).read(NAME)).toEqual(bytes(text))
    expect(readdirSync(join(root, PREFIX))).toEqual(['1-5-abc.ndjson.gz'])
  })

  test.each([
    '',
    '/',
    'file',
    '../file',
    '01ABC/../file',
    '01ABC/../../file',
    '/etc/passwd',
    '01ABC//file',
    '01ABC/.file',
    '01ABC/..',
    '.hidden/file',
    '01ABC\\..\\file',
    'C:/file',
    '01ABC/file\0',
    '01ABC/file\n',
    '01ABC/%2e%2e/file',
    `${'a/'.repeat(10)}file`,
    `01ABC/${'a'.repeat(300)}`,
  ])('%j is no name of a file', async (name) => {
    const root = join(temporaryDirectory(), 'archive')
    const files = folder(root)
    await expect(files.write(name, bytes('x'))).rejects.toThrow('is not the name of a file')
    await expect(files.read(name)).rejects.toThrow('is not the name of a file')
    await expect(files.remove(name.endsWith('/') ? name : `${name}/..`)).rejects.toThrow('is not the name of a file')
    expect(readdirSync(join(root, '..'))).toEqual([])
  })

  test.each(['01ABC', '01ABC/01ABCDEF'])('a folder %s that is a link is not followed', async (linked) => {
    const place = temporaryDirectory()
    const [root, outside] = [join(place, 'archive'), join(place, 'outside')]
    mkdirSync(join(outside, '01ABCDEF'), { recursive: true })
    writeFileSync(join(outside, '01ABCDEF', '1-5-abc.ndjson.gz'), 'secret')
    writeFileSync(join(outside, '1-5-abc.ndjson.gz'), 'secret')
    mkdirSync(join(root, linked, '..'), { recursive: true })
    symlinkSync(outside, join(root, linked))
    const files = folder(root)
    await expect(files.write(NAME, bytes('x'))).rejects.toThrow('links are not followed')
    await expect(files.read(NAME)).rejects.toThrow('links are not followed')
    await expect(files.remove(PREFIX)).rejects.toThrow('links are not followed')
    expect(readFileSync(join(outside, '1-5-abc.ndjson.gz'), 'utf8')).toBe('secret')
    expect(readdirSync(outside)).toEqual(['01ABCDEF', '1-5-abc.ndjson.gz'])
  })

  test('a file that is a link is not read, and a write replaces the link', async () => {
    const place = temporaryDirectory()
    const root = join(place, 'archive')
    writeFileSync(join(place, 'outside'), 'secret')
    mkdirSync(join(root, PREFIX), { recursive: true })
    symlinkSync(join(place, 'outside'), join(root, NAME))
    const files = folder(root)
    await expect(files.read(NAME)).rejects.toThrow('ELOOP')
    await files.write(NAME, bytes('mine'))
    expect(readFileSync(join(place, 'outside'), 'utf8')).toBe('secret')
    expect(await files.read(NAME)).toEqual(bytes('mine'))
  })

  test('the root itself may be a link', async () => {
    const place = temporaryDirectory()
    mkdirSync(join(place, 'disk'))
    symlinkSync(join(place, 'disk'), join(place, 'archive'))
    await folder(join(place, 'archive')).write(NAME, bytes('x'))
    expect(await folder(join(place, 'disk')).read(NAME)).toEqual(bytes('x'))
  })

  test('a root that cannot be a folder is an error', async () => {
    const file = join(temporaryDirectory(), 'file')
    writeFileSync(file, '')
    await expect(folder(file).write(NAME, bytes('x'))).rejects.toThrow(/EEXIST|ENOTDIR/)
  })
})
