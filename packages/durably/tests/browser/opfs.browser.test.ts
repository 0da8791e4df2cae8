import { expect, test } from 'vitest'

test('this page keeps files of its own, and may share memory with its workers', async () => {
  const root = await navigator.storage.getDirectory()
  const file = await root.getFileHandle('note', { create: true })
  const writer = await file.createWritable()
  await writer.write('kept')
  await writer.close()
  expect(await (await file.getFile()).text()).toBe('kept')
  expect(crossOriginIsolated).toBe(true)
})

test('text has a width: fonts are found', () => {
  const text = document.createElement('span')
  text.textContent = 'Durably'
  document.body.append(text)
  expect(text.getBoundingClientRect().width).toBeGreaterThan(20)
})
