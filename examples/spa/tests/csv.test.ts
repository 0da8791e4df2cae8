import { expect, test } from 'vitest'
import { parseCsv } from '../src/csv.ts'

test('fields are parted by commas, and may be quoted', () => {
  const text = '\uFEFFname,city\r\nAda,"Cambridge, MA"\r\n\r\n"Grace ""Amazing"" Hopper","New\nYork"\r\nAlan'
  expect(parseCsv(text)).toEqual({
    columns: ['name', 'city'],
    rows: [
      { name: 'Ada', city: 'Cambridge, MA' },
      { name: 'Grace "Amazing" Hopper', city: 'New\nYork' },
      { name: 'Alan', city: '' },
    ],
  })
  expect(parseCsv('')).toEqual({ columns: [], rows: [] })
})
